// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
pragma solidity 0.8.30;

/// Deposits that can be withdrawn after a day, and a fee that only the owner sets.
contract Bank {
    uint256 public constant lockSeconds = 1 days;
    uint256 public fee;
    address public immutable owner = msg.sender;
    mapping(address => uint256) public balanceOf;
    mapping(address => uint256) public unlockedAt;

    event Deposited(address indexed account, uint256 amount);
    event Withdrawn(address indexed account, uint256 amount);

    error Empty();
    error Locked(uint256 until);
    error NotOwner(address caller);

    function setFee(uint256 newFee) external {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        fee = newFee;
    }

    function deposit() external payable {
        balanceOf[msg.sender] += msg.value - fee;
        unlockedAt[msg.sender] = block.timestamp + lockSeconds;
        emit Deposited(msg.sender, msg.value - fee);
    }

    function withdraw() external {
        uint256 amount = balanceOf[msg.sender];
        if (amount == 0) revert Empty();
        if (block.timestamp < unlockedAt[msg.sender]) revert Locked(unlockedAt[msg.sender]);
        balanceOf[msg.sender] = 0;
        payable(msg.sender).transfer(amount);
        emit Withdrawn(msg.sender, amount);
    }
}

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Methods whose answers reveal nothing comparable with later answers, with the reason. */
export const silent: Readonly<
  Record<string, readonly (readonly [why: string, methods: string])[]>
> = {
  'evm jsonrpc': [
    [
      'a constant, or a function of the request alone',
      `eth_chainId net_version web3_sha3 debug_traceBlock eth_supportedEntryPoints
      ots_getApiLevel debug_seedHash debug_traceTransactionInBlockByHash
      debug_traceTransactionInBlockByIndex pm_supportedEntryPoints zks_L1ChainId
      zks_getBaseTokenL1Address zks_getBridgeContracts zks_getBridgehubContract zks_getL2Multicall3
      zks_getMainContract zks_getTestnetPaymaster zks_getTimestampAsserter`,
    ],
    [
      'the node itself, not its chain',
      `eth_protocolVersion web3_clientVersion rpc_modules net_listening net_peerCount
      eth_accounts eth_coinbase eth_mining eth_hashrate eth_submitWork eth_submitHashrate
      eth_sign eth_signTransaction eth_signTypedData eth_signTypedData_v4 eth_newFilter
      eth_newBlockFilter eth_newPendingTransactionFilter eth_uninstallFilter
      debug_getBadBlocks debug_preimage debug_dbGet debug_chainConfig debug_backtraceAt
      debug_batchSendRawTransaction debug_blockProfile debug_chaindbCompact
      debug_chaindbProperty debug_cpuProfile debug_dbAncient debug_dbAncients
      debug_deleteChainSlice debug_freeOSMemory debug_freezeClient debug_gcStats
      debug_getChainLevel debug_getConfigValue debug_getFromDb debug_getSyncStage
      debug_getTrieFlushInterval debug_goTrace debug_insertReceipts debug_memStats
      debug_metrics debug_migrateReceipts debug_mutexProfile debug_resetHead
      debug_resyncWorldState debug_stacks debug_standardTraceBadBlockToFile
      debug_standardTraceBlockToFile debug_startCPUProfile debug_startGoTrace
      debug_stopCPUProfile debug_stopGoTrace debug_traceBadBlock debug_traceBlockFromFile
      debug_verbosity debug_vmodule debug_writeBlockProfile debug_writeMemProfile
      debug_writeMutexProfile erigon_cacheCheck erigon_forks erigon_nodeInfo eth_snapshot
      optimism_rollupConfig optimism_version bor_getVoteOnHash eth_health eth_getChainConfig
      eth_getBadBlocks zks_getProtocolVersion`,
    ],
    [
      'accepts a transaction, which has no block yet',
      `eth_sendRawTransaction eth_sendRawTransactionConditional eth_sendPrivateTransaction
      eth_sendPrivateRawTransaction eth_cancelPrivateTransaction eth_sendBundle
      eth_sendTransaction eth_resend eth_sendUserOperation eth_cancelBundle mev_sendBundle
      zks_sendRawTransactionWithDetailedOutput sei_associate
      linea_getTransactionExclusionStatusV1`,
    ],
    [
      'the pool of transactions: they have no block yet',
      `eth_pendingTransactions txpool_status txpool_content txpool_contentFrom txpool_inspect
      eth_fillTransaction buildTransaction`,
    ],
    [
      'values of a state, without the number of its block',
      `eth_config eth_gasPrice eth_maxPriorityFeePerGas eth_blobBaseFee eth_baseFee
      eth_bigBlockGasPrice eth_usingBigBlocks eth_getBlockTransactionCountByNumber
      eth_getUncleCountByBlockNumber eth_getUncleByBlockNumberAndIndex eth_getBlockAccessList
      eth_getBlockAccessListByBlockNumber eth_getRawTransactionByBlockNumberAndIndex
      eth_getBalance eth_getTransactionCount eth_getCode eth_getStorageAt eth_getStorageValues
      eth_getAccount eth_getAccountInfo eth_getProof eth_call eth_callMany eth_estimateGas
      eth_createAccessList eth_estimateUserOperationGas eth_simulateUserOperationAssetChanges
      debug_getRawReceipts ots_hasCode debug_traceCall debug_traceCallMany debug_accountRange
      debug_executionWitness debug_replayBlock debug_dumpBlock trace_call trace_callMany
      trace_rawTransaction trace_replayBlockTransactions debug_accountInfoAt debug_codeByHash
      debug_executionWitnessCall debug_getBlockAccessList debug_getRawBlockAccessList
      debug_getRawTransactions debug_simulateV1 debug_stateRootWithUpdates
      erigon_getBalanceChangesInBlock erigon_watchTheBurn eth_getBlockAccessListByNumber
      eth_getBlockAccessListRaw mev_simBundle overlay_callConstructor parity_listStorageKeys
      pimlico_getUserOperationGasPrice proof_call reth_getBalanceChangesInBlock
      reth_getBlockExecutionOutcome trace_simulateV1 arbtrace_call arbtrace_callMany
      arbtrace_replayBlockTransactions bor_getAuthor bor_getCurrentProposer
      bor_getCurrentValidators bor_getSigners bor_getSnapshotProposer
      bor_getSnapshotProposerSequence eth_suggestPriceOptions eth_callDetailed linea_estimateGas
      linea_getProof scroll_estimateL1DataFee zks_getRawBlockTransactions zks_estimateFee
      zks_estimateGasL1ToL2 zks_getFeeParams zks_getBatchFeeInput zks_getL1GasPrice
      zks_getAllAccountBalances zks_getConfirmedTokens sei_getSeiAddress sei_getEVMAddress`,
    ],
    [
      'a relay or a paymaster, not the chain',
      `flashbots_getBundleStats flashbots_getBundleStatsV2 flashbots_getFeeRefundRecipient
      flashbots_getFeeRefundTotalsByBundle flashbots_getFeeRefundTotalsByRecipient
      flashbots_getFeeRefundsByBlock flashbots_getFeeRefundsByBundle
      flashbots_getFeeRefundsByRecipient flashbots_getSbundleStats flashbots_getUserStats
      flashbots_getUserStatsV2 flashbots_setFeeRefundRecipient pimlico_getUserOperationStatus
      pm_getPaymasterData pm_getPaymasterStubData pm_sponsorUserOperation
      pm_validateSponsorshipPolicies`,
    ],
    [
      'a result about two blocks that the request names',
      'debug_getModifiedAccountsByNumber bor_getRootHash eth_getRootHash',
    ],
    [
      'batches and proofs, whose numbers are not those of blocks',
      `zks_L1BatchNumber zks_getL1BatchDetails zks_getL1BatchBlockRange zks_getProof
      zks_getL2ToL1LogProof zks_getL2ToL1MsgProof`,
    ],
    [
      'a message to another chain',
      'warp_getMessageAggregateSignature warp_getBlockAggregateSignature',
    ],
    [
      'pages of an index, which may be behind',
      `ots_getContractCreator ots_getTransactionBySenderAndNonce ots_searchTransactionsAfter
      ots_searchTransactionsBefore`,
    ],
  ],
  'solana jsonrpc': [
    [
      'a constant, or a schedule that precedes its slots',
      `getGenesisHash getEpochSchedule getMinimumBalanceForRentExemption getSlotLeaders
      getLeaderSchedule getAgGenesisCert getTipAccounts`,
    ],
    [
      'the node itself, not its chain',
      `getHealth getVersion getIdentity getClusterNodes getFirstAvailableBlock minimumLedgerSlot
      getHighestSnapshotSlot getMaxRetransmitSlot getMaxShredInsertSlot`,
    ],
    ['accepts a transaction, which has no slot yet', `sendTransaction requestAirdrop sendBundle`],
    [
      'values of a state, without its slot; a block height is on another scale',
      `getBlockHeight getTransactionCount getSlotLeader getInflationGovernor getInflationRate
      getVoteAccounts getInflationReward getBlockCommitment getPriorityFeeEstimate`,
    ],
    [
      'pages of an index beside the chain, which may be behind',
      `getAsset getAssetBatch getAssets getAssetProof getAssetProofBatch getAssetProofs
      getAssetSignatures getAssetSignaturesV2 getAssetsByAuthority getAssetsByCreator
      getAssetsByGroup getAssetsByOwner getGrouping getNftEditions getSignaturesForAsset
      getTokenAccounts searchAssets`,
    ],
  ],
  'bitcoin jsonrpc': [
    [
      'a function of the request alone',
      `decoderawtransaction decodescript validateaddress verifymessage createmultisig deriveaddresses
      getdescriptorinfo createrawtransaction combinerawtransaction signrawtransactionwithkey
      signmessagewithprivkey createpsbt converttopsbt decodepsbt analyzepsbt combinepsbt finalizepsbt
      joinpsbts getcurrentnet`,
    ],
    [
      'the node itself, not its chain',
      `getnetworkinfo getconnectioncount getpeerinfo getnettotals getnodeaddresses
      getaddednodeinfo getaddrmaninfo listbanned getmemoryinfo getrpcinfo getzmqnotifications
      uptime help version verifychain addnode addpeeraddress clearbanned disconnectnode setban
      setnetworkactive ping logging debuglevel stop prioritisetransaction pruneblockchain
      getblockfrompeer savemempool importmempool dumptxoutset scantxoutset getrawaddrman
      getprivatebroadcastinfo abortprivatebroadcast addconnection sendmsgtopeer
      enumeratesigners mockscheduler setmocktime syncwithvalidationinterfacequeue echo echoipc
      echojson`,
    ],
    [
      'accepts a transaction or a header, not a block',
      'sendrawtransaction submitpackage submitheader',
    ],
    [
      'the pool of transactions: they have no block yet',
      `gettxspendingprevout getmempoolinfo getrawmempool getmempoolentry getmempoolancestors
      getmempooldescendants getmempoolcluster getmempoolfeeratediagram testmempoolaccept getorphantxs
      getprioritisedtransactions`,
    ],
    [
      'values of a state, without the number or the hash of its block',
      `getdifficulty verifytxoutproof estimatesmartfee estimaterawfee estimatefee getnetworkhashps
      utxoupdatepsbt descriptorprocesspsbt`,
    ],
    [
      'the wallet of one node',
      `abandontransaction abortrescan addmultisigaddress backupwallet bumpfee createwallet
      createwalletdescriptor dumpprivkey encryptwallet exportwatchonlywallet
      fundrawtransaction getaddressesbylabel getaddressinfo getbalance gethdkeys getnewaddress
      getrawchangeaddress getreceivedbyaddress getreceivedbylabel importdescriptors
      importprivkey keypoolrefill listaddressgroupings listdescriptors listlabels
      listlockunspent listreceivedbyaddress listreceivedbylabel listunspent listwalletdir
      listwallets loadwallet lockunspent migratewallet psbtbumpfee removeprunedfunds
      importprunedfunds restorewallet send sendall sendmany sendtoaddress setlabel
      setwalletflag signmessage signrawtransactionwithwallet simulaterawtransaction
      unloadwallet upgradewallet walletcreatefundedpsbt walletdisplayaddress walletlock
      walletpassphrase walletpassphrasechange walletprocesspsbt dumpwallet importaddress
      importmulti importpubkey importwallet newkeypool sethdseed settxfee`,
    ],
  ],
  'cosmos tendermintrpc': [
    ['a constant', 'genesis genesis_chunked'],
    [
      'the node itself, not its chain',
      'health net_info dial_seeds dial_peers unsafe_flush_mempool consensus_state',
    ],
    [
      'accepts a transaction or evidence, which has no block yet',
      'broadcast_tx_async broadcast_tx_sync broadcast_evidence',
    ],
    [
      'the pool of transactions: they have no block yet',
      'unconfirmed_txs unconfirmed_tx num_unconfirmed_txs check_tx',
    ],
  ],
  'BEACON rest': [
    [
      'a constant, or a function of the request alone',
      `/eth/v1/beacon/genesis /eth/v1/config/deposit_contract /eth/v1/config/spec
      /eth/v1/config/fork_schedule`,
    ],
    [
      'the node itself, not its chain',
      `/eth/v2/debug/beacon/heads /eth/v1/debug/fork_choice /eth/v1/node/health
      /eth/v1/node/version /eth/v1/node/identity /eth/v1/node/peers /eth/v1/node/peers/{peer_id}
      /eth/v1/node/peer_count`,
    ],
    [
      'headers inside proofs, at a slot that differs with the fork',
      `/eth/v1/beacon/light_client/updates /eth/v1/beacon/light_client/finality_update
      /eth/v1/beacon/light_client/optimistic_update`,
    ],
    [
      'a pool of one node, or what clients send to it',
      `/eth/v2/beacon/pool/attestations /eth/v2/beacon/pool/attester_slashings
      /eth/v1/beacon/pool/proposer_slashings /eth/v1/beacon/pool/voluntary_exits
      /eth/v1/beacon/pool/bls_to_execution_changes /eth/v1/beacon/pool/sync_committees
      /eth/v2/beacon/blocks /eth/v2/beacon/blinded_blocks`,
    ],
    [
      'duties and rewards of an epoch',
      `/eth/v1/validator/duties/proposer/{epoch} /eth/v1/validator/duties/attester/{epoch}
      /eth/v1/validator/duties/sync/{epoch} /eth/v1/beacon/rewards/attestations/{epoch}`,
    ],
  ],
  'NEAR jsonrpc': [
    ['the node itself, not its chain', 'health network_info client_config maintenance_windows'],
    [
      'a constant, or a function of the request alone',
      'genesis_config EXPERIMENTAL_genesis_config',
    ],
    [
      'values of a state, without the number of its block',
      `EXPERIMENTAL_protocol_config gas_price validators EXPERIMENTAL_validators_ordered
      EXPERIMENTAL_congestion_level`,
    ],
    ['accepts a transaction, which has no block yet', 'broadcast_tx_async'],
  ],
  'POLKADOT jsonrpc': [
    [
      'a constant, or a function of the request alone',
      `chainSpec_v1_chainName chainSpec_v1_genesisHash chainSpec_v1_properties system_chain
      system_chainType system_properties archive_v1_genesisHash`,
    ],
    [
      'the node itself, not its chain',
      `rpc_methods system_health system_name system_version system_nodeRoles system_localPeerId
      system_localListenAddresses system_peers system_reservedPeers transaction_v1_stop`,
    ],
    ['all blocks at a height, of which none may be final', 'archive_v1_hashByHeight'],
    [
      'values of a state, without the number of its block',
      `state_getRuntimeVersion chain_getRuntimeVersion state_getMetadata state_getStorage
      state_getStorageAt state_getStorageHash state_getStorageHashAt state_getStorageSize
      state_getStorageSizeAt state_queryStorageAt state_getReadProof state_getKeys
      state_getKeysPaged state_getKeysPagedAt state_call state_callAt state_getChildReadProof
      childstate_getStorage childstate_getStorageEntries childstate_getStorageHash
      childstate_getStorageSize childstate_getKeys childstate_getKeysPaged
      childstate_getKeysPagedAt payment_queryInfo payment_queryFeeDetails system_accountNextIndex
      account_nextIndex system_dryRun system_dryRunAt`,
    ],
    ['the pool of transactions: they have no block yet', 'author_pendingExtrinsics'],
    [
      'accepts a transaction, which has no block yet',
      'author_submitExtrinsic transaction_v1_broadcast',
    ],
  ],
  'STRK jsonrpc': [
    ['a constant, or a function of the request alone', 'starknet_chainId'],
    ['the node itself, not its chain', 'starknet_specVersion'],
    [
      'values of a state, without the number of its block',
      `starknet_getBlockTransactionCount starknet_getTransactionByBlockIdAndIndex starknet_getNonce
      starknet_getStorageAt starknet_getClassHashAt starknet_getClassAt starknet_getClass
      starknet_call starknet_estimateFee starknet_estimateMessageFee
      starknet_traceBlockTransactions starknet_simulateTransactions`,
    ],
    ['a transaction without its block, which may be pending', 'starknet_getTransactionByHash'],
    ['a transaction of another chain', 'starknet_getMessagesStatus'],
    [
      'accepts a transaction, which has no block yet',
      `starknet_addInvokeTransaction starknet_addDeclareTransaction
      starknet_addDeployAccountTransaction`,
    ],
  ],
  'XLM jsonrpc': [['the node itself, not its chain', 'getNetwork getVersionInfo']],
  'SUI jsonrpc': [
    [
      'a constant, or a function of the request alone',
      `sui_getChainIdentifier sui_tryGetPastObject sui_tryMultiGetPastObjects
      sui_getLoadedChildObjects sui_verifyZkLoginSignature`,
    ],
    ['the node itself, not its chain', 'rpc.discover'],
    [
      'values of a state, without the number of its block',
      `sui_getProtocolConfig sui_getTotalTransactionBlocks suix_getReferenceGasPrice
      suix_getLatestSuiSystemState suix_getCommitteeInfo suix_getValidatorsApy sui_getObject
      sui_multiGetObjects suix_getOwnedObjects suix_getDynamicFields suix_getDynamicFieldObject
      suix_getBalance suix_getAllBalances suix_getCoins suix_getAllCoins suix_getStakes
      suix_getStakesByIds suix_getCoinMetadata suix_getTotalSupply suix_resolveNameServiceAddress
      suix_resolveNameServiceNames sui_getMoveFunctionArgTypes sui_getNormalizedMoveFunction
      sui_getNormalizedMoveModule sui_getNormalizedMoveModulesByPackage
      sui_getNormalizedMoveStruct sui_dryRunTransactionBlock sui_devInspectTransactionBlock`,
    ],
    [
      'pages of an index beside the chain, which may be behind',
      'suix_queryEvents suix_queryTransactionBlocks',
    ],
    [
      'a transaction to sign',
      `unsafe_batchTransaction unsafe_mergeCoins unsafe_moveCall unsafe_pay unsafe_payAllSui
      unsafe_paySui unsafe_publish unsafe_requestAddStake unsafe_requestWithdrawStake
      unsafe_splitCoin unsafe_splitCoinEqual unsafe_transferObject unsafe_transferSui`,
    ],
    ['accepts a transaction, which has no block yet', 'sui_executeTransactionBlock'],
  ],
  'TON rest': [
    [
      'values of a state, without the number of its block',
      `/v2/shards /v2/getMasterchainBlockSignatures /v2/getAddressInformation
      /v2/getExtendedAddressInformation /v2/getAddressBalance /v2/getAddressState
      /v2/getWalletInformation /v2/getTokenData /v2/getConfigParam /v2/getConfigAll
      /v2/getLibraries /v2/getTransactions /v2/tryLocateTx /v2/tryLocateResultTx
      /v2/tryLocateSourceTx /v2/getOutMsgQueueSizes /v2/runGetMethod /v2/runGetMethodStd
      /v2/estimateFee /v3/runGetMethod /v3/estimateFee`,
    ],
    [
      'a block of another chain, whose numbers are its own',
      `/v2/lookupBlock /v2/getBlockHeader /v2/getBlockTransactions /v2/getBlockTransactionsExt
      /v2/getShardBlockProof`,
    ],
    [
      'a constant, or a function of the request alone',
      '/v2/detectAddress /v2/detectHash /v2/packAddress /v2/unpackAddress',
    ],
    [
      'accepts a transaction, which has no block yet',
      '/v2/sendBoc /v2/sendBocReturnHash /v2/sendQuery /v2/jsonRPC /v3/message',
    ],
    [
      'pages of an index beside the chain, which may be behind',
      `/v3/accountStates /v3/walletStates /v3/addressBook /v3/addressInformation
      /v3/walletInformation /v3/metadata /v3/actions /v3/pendingActions /v3/traces
      /v3/pendingTraces /v3/transactions /v3/pendingTransactions /v3/transactionsByMessage
      /v3/transactionsByMasterchainBlock /v3/adjacentTransactions /v3/messages /v3/blocks
      /v3/masterchainBlockShards /v3/masterchainBlockShardState /v3/events
      /v3/topAccountsByBalance /v3/dnsEntities /v3/dns/records /v3/jetton/burns /v3/jetton/masters
      /v3/jetton/transfers /v3/jetton/wallets /v3/nft/collections /v3/nft/items /v3/nft/sales
      /v3/nft/transfers /v3/multisig/orders /v3/multisig/wallets /v3/vesting`,
    ],
  ],
  'evm rest': [
    [
      'the pool of transactions: they have no block yet',
      `/wallet/getpendingsize /wallet/gettransactionlistfrompending
      /wallet/gettransactionfrompending`,
    ],
    ['the node itself, not its chain', '/wallet/getnodeinfo /wallet/listnodes'],
    [
      'values of a state, without the number of its block',
      `/wallet/getchainparameters /wallet/getenergyprices /wallet/getbandwidthprices
      /wallet/getburntrx /wallet/getnextmaintenancetime /wallet/listwitnesses
      /wallet/getpaginatednowwitnesslist /wallet/listproposals /wallet/listexchanges
      /wallet/getassetissuelist /wallet/getpaginatedassetissuelist /wallet/getaccount
      /wallet/getaccountresource /wallet/getaccountnet /wallet/getcontract /wallet/getcontractinfo
      /wallet/getReward /wallet/getBrokerage /wallet/getassetissuebyaccount
      /wallet/getassetissuebyid /wallet/getassetissuebyname /wallet/getassetissuelistbyname
      /wallet/getdelegatedresource /wallet/getdelegatedresourcev2
      /wallet/getdelegatedresourceaccountindex /wallet/getdelegatedresourceaccountindexv2
      /wallet/getcandelegatedmaxsize /wallet/getcanwithdrawunfreezeamount
      /wallet/getavailableunfreezecount /wallet/getapprovedlist /wallet/getsignweight
      /wallet/getproposalbyid /wallet/getexchangebyid /wallet/triggerconstantcontract
      /wallet/estimateenergy /walletsolidity/getaccount /walletsolidity/gettransactionbyid
      /walletsolidity/triggerconstantcontract /walletsolidity/estimateenergy
      /walletsolidity/getassetissuebyid /walletsolidity/getdelegatedresource
      /walletsolidity/getdelegatedresourcev2 /walletsolidity/getReward
      /walletsolidity/getBrokerage`,
    ],
    ['a constant, or a function of the request alone', '/wallet/validateaddress'],
    [
      'a transaction to sign',
      `/wallet/createtransaction /wallet/createaccount /wallet/updateaccount
      /wallet/accountpermissionupdate /wallet/freezebalance /wallet/unfreezebalance
      /wallet/freezebalancev2 /wallet/unfreezebalancev2 /wallet/cancelallunfreezev2
      /wallet/withdrawexpireunfreeze /wallet/delegateresource /wallet/undelegateresource
      /wallet/withdrawbalance /wallet/deploycontract /wallet/triggersmartcontract /wallet/clearabi
      /wallet/updateenergylimit /wallet/updatesetting /wallet/createassetissue /wallet/updateasset
      /wallet/participateassetissue /wallet/transferasset /wallet/unfreezeasset
      /wallet/proposalcreate /wallet/proposalapprove /wallet/proposaldelete /wallet/createwitness
      /wallet/updatewitness /wallet/votewitnessaccount /wallet/updateBrokerage`,
    ],
    [
      'accepts a transaction, which has no block yet',
      '/wallet/broadcasttransaction /wallet/broadcasthex',
    ],
  ],
}

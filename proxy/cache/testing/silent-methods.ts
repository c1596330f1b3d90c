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
      eth_fillTransaction`,
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
}

// Constants that the bundler writes into browser code.

/** Origin of the service that serves the script. */
declare const QUITTANCE_BASE_URL: string

/** SRI of `/walletconnect.js`; empty if the service has no WalletConnect project. */
declare const QUITTANCE_WALLETCONNECT_INTEGRITY: string

/** The local chains and their nodes, comma-separated: `84532 http://127.0.0.1:8545`. */
declare const QUITTANCE_TEST_CHAINS: string

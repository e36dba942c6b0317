// Constants that the bundler writes into browser code.

/** Origin of the service that serves the script. */
declare const QUITTANCE_BASE_URL: string

/** SRI of `/walletconnect.js`; empty where the service has no project of WalletConnect. */
declare const QUITTANCE_WALLETCONNECT_INTEGRITY: string

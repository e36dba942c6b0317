// Wallet apps with their own browser, and the links that open a page in it. Links in an app's own scheme stay on the
// phone. MetaMask replaced its scheme with a web address, whose fragment stays on the phone.

export interface WalletApp {
  readonly name: string
  /** The link that opens `url` in the app's browser. */
  readonly link: (url: string) => string
}

const encoded = encodeURIComponent

export const walletApps: ReadonlyArray<WalletApp> = [
  // github.com/MetaMask/metamask-mobile docs/readme/deeplinking.md
  { name: "MetaMask", link: (url) => `https://link.metamask.io/dapp/${url.replace(/^https?:\/\//, "")}` },
  // docs.cdp.coinbase.com/coinbase-wallet, mobile deep linking
  { name: "Coinbase Wallet", link: (url) => `cbwallet://dapp?url=${encoded(url)}` },
  // developer.trustwallet.com/developer/develop-for-trust/deeplinking; 60 is Ethereum (SLIP-44)
  { name: "Trust Wallet", link: (url) => `trust://open_url?coin_id=60&url=${encoded(url)}` },
  // github.com/rainbow-me/rainbow src/handlers/deeplinks.ts
  { name: "Rainbow", link: (url) => `rainbow://dapp?url=${encoded(url)}` },
  // web3.okx.com/build/docs/sdks/app-universal-link
  { name: "OKX Wallet", link: (url) => `okx://wallet/dapp/url?dappUrl=${encoded(url)}` }
]

/** True if the browser is a phone's or a tablet's, where wallets are apps. */
export const isPhone = ({ maxTouchPoints, userAgent }: Pick<Navigator, "maxTouchPoints" | "userAgent">) =>
  /android|iphone|ipad|ipod|mobile/i.test(userAgent) || (/macintosh/i.test(userAgent) && maxTouchPoints > 1)

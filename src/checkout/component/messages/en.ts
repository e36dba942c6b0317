// English: the messages that every other language translates. Words in braces are
// filled in; a translation keeps them.

export const en = {
  // Header, and what stands on every screen.
  amountLabel: "Amount to pay",
  payTo: "Pay {merchant}",
  testMode: "Test mode",
  reference: "Reference {reference}",
  progressLabel: "Progress",
  progressConnect: "Connect",
  progressReview: "Review",
  progressPay: "Pay",
  progressDone: "Done",
  cancel: "Cancel",
  tryAgain: "Try again",
  done: "Done",

  loadingTitle: "Preparing your payment",
  loadingText: "This takes a moment.",

  connectTitle: "Choose a wallet",
  connectText: "You pay {amount} in USDC on {network}.",
  connectNone: "No wallet found in this browser",
  connectNoneText:
    "Install a wallet extension, or open this page in your wallet app’s browser. It appears here as soon as it is ready.",
  browserWallet: "Browser wallet",
  connecting: "Open {wallet} and approve the connection.",
  stopWaiting: "Stop waiting",

  networkTitle: "Switch to {network}",
  networkText: "Your wallet is on another network. The payment is made on {network}.",
  networkAction: "Switch network",
  switching: "Approve the switch in your wallet.",

  fundsTitle: "Not enough funds",
  fundsText: "You need {amount} in USDC. Your wallet holds {balance}.",
  fundsGas: "Your wallet holds no ETH on {network} for the network fee.",
  fundsAction: "Get {amount} test USDC",
  fundsTopUp: "Send USDC on {network} to {account}, then check again.",
  funding: "Sign in with your wallet. The test funds arrive in a few seconds.",
  checkBalance: "Check balance again",
  checkingBalance: "Checking your balance…",
  continueAnyway: "Continue anyway",

  reviewTitle: "Review and pay",
  reviewFrom: "From",
  reviewTo: "To",
  reviewNetwork: "Network",
  reviewFee: "Network fee",
  reviewFeeText: "Shown by your wallet",
  payAction: "Pay {amount}",
  changeWallet: "Use another wallet",

  identityTitle: "Confirm it is you",
  identityText: "Sign the message in your wallet. It is free and moves no money.",
  transferTitle: "Approve the payment",
  transferText: "Approve the transfer of {amount} in your wallet. Take your time.",
  elsewhereTitle: "Continue in the other tab",
  elsewhereText: "This payment is open in another tab. This page follows along.",
  unsureTitle: "Did you approve the payment?",
  unsureText:
    "Your wallet was asked before, and no transfer is on the network yet. If your wallet still shows the request, approve or reject it there.",
  unsureWarning: "Reject any earlier request in your wallet before you send again, or you may pay twice.",
  checkAgain: "Check again",
  sendAgain: "Send again",
  proveTitle: "Confirm it was you",
  proveText: "The transfer was sent. Sign the message in your wallet so that it counts for this payment.",
  proveAction: "Sign the message",
  signing: "Sign the message in your wallet.",

  submittedTitle: "Payment sent",
  submittedText: "Handing it in for confirmation.",
  checkingTitle: "Looking for your payment",
  checkingText: "Checking on {network} whether it went out. Nothing is sent twice.",
  confirmingTitle: "Waiting for confirmation",
  confirmingText: "This usually takes a few seconds. You may close this page: the payment goes on.",
  openTitle: "This payment is being made",
  openText:
    "Your wallet {account} has been paying since {time}. This page follows along; nothing is sent twice.",
  othersWarning:
    "Another wallet, {account}, has been paying this since {time}. If it is yours, do not pay again.",
  gatedTitle: "Live payments are not open yet",
  gatedText: "This shop cannot take live payments here yet. Nothing was charged.",
  stageSent: "Sent from your wallet",
  stageConfirmed: "Confirmed on {network}",
  stageSettled: "Accepted",
  viewTransaction: "View transaction",

  settledTitle: "Payment complete",
  settledText: "You paid {amount} to {merchant}.",

  failedTitle: "This payment cannot continue",
  failedInvalid: "The checkout is not valid. Go back to the shop and start again.",
  failedUnreachable: "The payment service cannot be reached. Check your connection.",
  failedUnverified: "The payment was not confirmed in time. Contact {merchant} with the reference.",
  failedMismatch:
    "The transfer does not match this payment. Contact {merchant} with the reference; do not pay again.",
  failedStorage: "This browser keeps no data for this page, so a double payment could not be ruled out.",
  errorCode: "Code {code}",

  expiredTitle: "This checkout has expired",
  expiredText: "Nothing was charged. Go back to the shop and start again.",

  cancelledTitle: "Payment cancelled",
  cancelledByBuyer: "Nothing was charged.",
  cancelledReplaced: "Another transaction took the place of your payment. The money did not move.",
  cancelledReverted: "The network rejected the transaction. Only the network fee was charged.",
  cancelledNotSent:
    "Your payment did not go out. If your wallet still shows an earlier request, reject it before you pay again.",
  payAgain: "Start again",

  noticeDeclined: "You declined in your wallet. Nothing was charged.",
  noticeWalletBusy: "Your wallet already shows a request. Open it to continue.",
  noticeUnknownChain: "Your wallet could not add this network. Add it by hand, then try again.",
  noticeUnauthorized: "Your wallet refused. Connect it again.",
  noticeNoGas: "Your wallet has not enough ETH for the network fee.",
  noticeWalletError: "Your wallet could not do this. Try again.",
  noticeReconnect: "Connect the wallet you were paying with, so that we find your payment.",
  noticeDisconnected: "Your wallet was disconnected.",
  noticeAccountChanged: "You switched accounts in your wallet.",
  noticeWrongAccount: "Your wallet is on another account. Check it and pay again.",
  noticeUnreachable: "The payment service does not answer. Trying again…",
  noticeOffline: "No connection. We keep trying; your payment is safe.",
  noticeChainDown: "The network does not answer. We keep trying; your payment is safe.",
  noticeNoNetwork: "Your wallet cannot reach the network. Nothing was charged; try again.",
  noticeNoBalance: "Your balance could not be read.",
  noticeFunded: "Test funds have arrived.",
  noticeFaucetLimit: "No more test funds for now. Try again in {minutes} minutes.",
  noticeFaucetDown: "Test funds are not available now. Try again later.",
  noticeOtherSigner: "The message was signed by another account. Choose the account that pays.",
  noticeOtherPayer: "The transfer came from {account}. Choose that account in your wallet and sign.",
  noticeReplaced: "Your wallet replaced the transaction. We follow the new one."
} as const

export type MessageKey = keyof typeof en
export type Messages = { readonly [K in MessageKey]: string }

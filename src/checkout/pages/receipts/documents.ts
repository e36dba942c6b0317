// The documents of the receipt's pages.
import { pageHead } from "../../../platform/pages/pageHead.ts"

const head = (title: string, script: string) => pageHead(title, "/receipt.css", script)

/** Sends the receipt by email. Entering the address is the consent; the purpose is stated beside it. */
const mailForm = `<form class="panel by-mail" id="mail" hidden>
<label for="email" data-text="byMail">Send me this receipt by email</label>
<input type="email" id="email" required maxlength="254" autocomplete="email" aria-describedby="mail-about">
<p id="mail-about" class="mode" data-text="byMailAbout">We use the address for this receipt only.</p>
<button type="submit" data-text="send">Send</button>
<p id="mail-outcome" role="status"></p>
</form>
`

export const receiptDocument = (hasMail: boolean) => `${head("Receipt", "/receipt.js")}
<body>
<main>
<article class="receipt" aria-labelledby="title" aria-busy="true">
<header>
<p id="merchant" class="merchant"></p>
<h1 id="title" data-text="receipt">Receipt</h1>
<p id="amount" class="amount" translate="no"></p>
<p id="mode" class="mode" hidden data-text="testPayment">Test payment: no real money moved.</p>
</header>
<dl id="facts"></dl>
<p id="verified" class="verified" role="status" data-text="reading">Reading the receipt…</p>
</article>
<nav class="actions" aria-label="Receipt" data-label="receipt">
<button type="button" id="print" data-text="print">Print</button>
<button type="button" id="save" data-text="save">Save the signed receipt</button>
<a href="/verify-receipt" data-text="verifyTitle">Verify a receipt</a>
</nav>
${hasMail ? mailForm : ""}</main>
</body>
</html>
`

/** `keys` is a JWK set as JSON, with any text escaped that could end the element. Newer keys are at `keysUrl`. */
const verifyMain = (keys: string, keysUrl: string, below: string) => `<main>
<h1 data-text="verifyTitle">Verify a receipt</h1>
<p data-text="verifyText">Paste a signed receipt, or choose its file. This page checks the receipt and sends it nowhere. You can save the page and use it offline.</p>
<form class="panel" id="form">
<label for="jws" data-text="signedReceipt">Signed receipt</label>
<textarea id="jws" rows="6" spellcheck="false" autocomplete="off" required></textarea>
<label for="file" data-text="orFile">Or its file</label>
<input type="file" id="file" accept=".jws,.txt,application/jose">
<button type="submit" data-text="verify">Verify</button>
</form>
<p id="outcome" class="verified" role="status"></p>
<dl id="facts"></dl>
${below}</main>
<script type="application/json" id="keys" data-url="${keysUrl}">${keys.replaceAll("<", "\\u003c")}</script>`

export const verifyDocument = (keys: string) => `${head("Verify a receipt", "/verify-receipt.js")}
<body>
${verifyMain(
  keys,
  "/.well-known/jwks.json",
  `<nav class="actions" aria-label="Verify a receipt" data-label="verifyTitle">
<a href="/verify-receipt.html" download data-text="saveVerifier">Save this page</a>
</nav>
`
)}
</body>
</html>
`

interface SavedParts {
  readonly keys: string
  readonly keysUrl: string
  readonly script: string
  readonly styles: string
  readonly policy: string
}

/** The same page as one file. It needs the service only for keys issued after it was saved. */
export const savedVerifyDocument = ({ keys, keysUrl, policy, script, styles }: SavedParts) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Verify a receipt</title>
<link rel="icon" href="data:,">
<style>${styles}</style>
</head>
<body>
${verifyMain(keys, keysUrl, "")}
<script>${script}</script>
</body>
</html>
`

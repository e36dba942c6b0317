// The documents of the receipt's pages.
const head = (title: string, script: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/receipt.css">
<script src="${script}" defer></script>
</head>`

export const receiptDocument = `${head("Receipt", "/receipt.js")}
<body>
<main>
<article class="receipt" aria-labelledby="title" aria-busy="true">
<header>
<p id="merchant" class="merchant"></p>
<h1 id="title">Receipt</h1>
<p id="amount" class="amount"></p>
<p id="mode" class="mode" hidden>Test payment: no real money moved.</p>
</header>
<dl id="facts"></dl>
<p id="verified" class="verified" role="status">Reading the receipt…</p>
</article>
<nav class="actions" aria-label="Receipt">
<button type="button" id="print">Print</button>
<button type="button" id="save">Save the signed receipt</button>
<a href="/verify-receipt">Verify a receipt</a>
</nav>
</main>
</body>
</html>
`

/** `keys` is a JWK set as JSON; what could end the element is escaped. */
export const verifyDocument = (keys: string) => `${head("Verify a receipt", "/verify-receipt.js")}
<body>
<main>
<h1>Verify a receipt</h1>
<p>Paste a signed receipt, or choose its file. It is checked on this page, without a network: keep the page to check receipts later.</p>
<form class="panel" id="form">
<label for="jws">Signed receipt</label>
<textarea id="jws" rows="6" spellcheck="false" autocomplete="off" required></textarea>
<label for="file">Or its file</label>
<input type="file" id="file" accept=".jws,.txt,application/jose">
<button type="submit">Verify</button>
</form>
<p id="outcome" class="verified" role="status"></p>
<dl id="facts"></dl>
</main>
<script type="application/json" id="keys">${keys.replaceAll("<", "\\u003c")}</script>
</body>
</html>
`

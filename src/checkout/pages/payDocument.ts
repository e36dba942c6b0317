// The document of /pay.
export const payDocument = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<title>Payment</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/checkout-pages.css">
<script src="/checkout.js" defer></script>
<script src="/pay.js" defer></script>
</head>
<body>
<main class="pay">
<h1 class="visually-hidden">Payment</h1>
<a class="back" id="back" hidden></a>
<div class="message" id="message" hidden></div>
<noscript><div class="message">This page needs JavaScript to talk to your wallet.</div></noscript>
</main>
</body>
</html>
`

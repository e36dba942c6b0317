// The document of /pay.
import { pageHead } from "../../platform/pages/pageHead.ts"

export const payDocument = `${pageHead("Payment", "/checkout-pages.css", "/checkout.js", "/pay.js")}
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

// The documents of payment links and of the counter.
import { pageHead } from "../../../platform/pages/pageHead.ts"

const head = (title: string, ...scripts: ReadonlyArray<string>) => pageHead(title, "/links.css", ...scripts)

export const linkDocument = `${head("Payment", "/checkout.js", "/link.js")}
<body>
<main>
<h1 id="description">Payment</h1>
<p id="message" role="status" data-text="opening">Opening the payment link…</p>
<form class="panel" id="form" hidden>
<label for="amount" data-text="amountLabel">Amount in USD</label>
<input id="amount" name="amount" inputmode="decimal" autocomplete="off" required aria-describedby="bounds problem">
<p id="bounds" translate="no"></p>
<p id="problem" class="problem" role="alert"></p>
<button type="submit" data-text="continue">Continue</button>
</form>
<div id="checkout"></div>
</main>
</body>
</html>
`

export const posterDocument = `${head("Payment link", "/poster.js")}
<body>
<main class="poster">
<p id="merchant" class="merchant"></p>
<h1 id="description">Payment link</h1>
<p id="amount" class="amount" translate="no"></p>
<p id="mode" class="mode" hidden data-text="testMode">Test mode: no real money moves.</p>
<p id="scan" class="scan" hidden data-text="scan">Scan to pay with USDC</p>
<div id="code" translate="no"></div>
<p id="url" class="url" translate="no"></p>
<p id="message" role="status"></p>
<div class="actions">
<button type="button" id="print" data-text="print">Print</button>
<button type="button" id="share" data-text="share">Share</button>
</div>
</main>
</body>
</html>
`

export const counterDocument = `${head("Counter", "/counter.js")}
<body class="counter">
<main>
<header>
<h1 id="merchant" data-text="counter">Counter</h1>
<p id="total" role="status" translate="no"></p>
</header>
<p id="mode" class="mode" hidden data-text="testMode">Test mode: no real money moves.</p>
<form id="form" hidden>
<label for="amount" data-text="amountLabel">Amount in USD</label>
<input id="amount" inputmode="decimal" autocomplete="off" value="">
<div class="keys" id="keys" role="group" aria-label="Number pad" data-label="keypad"></div>
<button type="submit" id="charge" data-text="charge">Charge</button>
</form>
<p id="message" role="alert"></p>
<section id="waiting" hidden aria-labelledby="due">
<h2 id="due" translate="no"></h2>
<div id="code" translate="no"></div>
<p role="status" data-text="waiting">Waiting for the customer to scan and pay…</p>
<button type="button" id="cancel" data-text="cancel">Cancel</button>
</section>
<section id="paid" hidden aria-labelledby="thanks">
<svg class="tick" viewBox="0 0 24 24" aria-hidden="true"><path d="M4 13l5 5L20 7"/></svg>
<h2 id="thanks" tabindex="-1"></h2>
<button type="button" id="next" data-text="next">Next customer</button>
</section>
</main>
</body>
</html>
`

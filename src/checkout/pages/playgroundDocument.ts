// The HTML of the playground page.
import { pageHead } from "../../platform/pages/pageHead.ts"

export const playgroundDocument = `${pageHead("Quittance playground", "/checkout-pages.css", "/checkout.js", "/playground.js")}
<body>
<main class="playground">
<header>
<p><a href="/">Quittance</a> · <a href="/docs">Documentation</a> · <a href="/dashboard">Dashboard</a></p>
<h1>Playground</h1>
<p>Pay a small test amount and watch it settle: the checkout your buyers see, the code that shows it, and the webhook your server gets.</p>
</header>
<div class="columns">
<div class="column">
<form class="panel" id="form">
<label for="key">Test publishable key</label>
<input type="text" id="key" name="key" placeholder="pk_test_…" autocomplete="off" spellcheck="false" required>
<fieldset>
<legend>Amount in USD</legend>
<div class="amounts">
<label><input type="radio" name="amount" value="0.50">0.50</label>
<label><input type="radio" name="amount" value="1.00" checked>1.00</label>
<label><input type="radio" name="amount" value="2.00">2.00</label>
<label><input type="radio" name="amount" value="5.00">5.00</label>
</div>
</fieldset>
<button type="submit">New payment</button>
<p class="problem" id="problem" role="alert"></p>
</form>
<div id="checkout"><div class="place">The checkout appears here.</div></div>
</div>
<div class="column">
<section class="panel" aria-labelledby="code-title">
<h2 id="code-title">The code</h2>
<p>Your server creates an intent with its secret key; the page shows the element.</p>
<pre translate="no" id="server-code" tabindex="0"></pre>
<pre translate="no" id="page-code" tabindex="0"></pre>
</section>
<section class="panel" aria-labelledby="events-title">
<h2 id="events-title">Events in the page</h2>
<p>For display only. Ship goods on the webhook, never on these events.</p>
<ul class="events" id="events"></ul>
</section>
<section class="panel" aria-labelledby="webhook-title">
<div class="status"><h2 id="webhook-title">The webhook</h2><span class="pill" id="delivery" role="status" translate="no">waiting</span></div>
<p id="attempts">The service sends it after the payment settles, if an endpoint is registered.</p>
<pre translate="no" id="payload" tabindex="0" hidden></pre>
</section>
</div>
</div>
</main>
</body>
</html>
`

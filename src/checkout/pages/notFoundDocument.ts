// The HTML of the page for an address of the service at which there is nothing.
import { pageHead } from "../../platform/pages/pageHead.ts"

export const notFoundDocument = `${pageHead("Page not found", "/checkout-pages.css")}
<body>
<main class="pay">
<section class="panel">
<h1>Page not found</h1>
<p>There is nothing at this address. Check the link that brought you here.</p>
<p><a href="/docs">Documentation</a> · <a href="/dashboard">Dashboard</a></p>
</section>
</main>
</body>
</html>
`

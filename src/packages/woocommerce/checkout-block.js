// Offers the gateway in WooCommerce's checkout block. The order is placed as in the classic checkout, which
// sends the buyer to the service's page.
;(() => {
  const { wc, wp } = window
  const { createElement } = wp.element
  const title = wp.htmlEntities.decodeEntities(wc.wcSettings.getSetting("quittance_data", {}).title ?? "")
  const content = createElement("p", null, "You pay from your own wallet, on the page that follows.")
  wc.wcBlocksRegistry.registerPaymentMethod({
    name: "quittance",
    label: createElement("span", null, title),
    ariaLabel: title,
    content,
    edit: content,
    canMakePayment: () => true,
    supports: { features: ["products"] }
  })
})()

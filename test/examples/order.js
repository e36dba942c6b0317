const checkout = document.querySelector("quittance-checkout")

checkout.addEventListener("settled", (event) => {
  // Thank the buyer. Do not ship: anybody can dispatch this event.
  document.title = `Paid: ${event.detail.payment.refCode}`
})

checkout.addEventListener("closed", (event) => {
  if (event.detail.state === "settled") location.assign("/orders/1042")
})

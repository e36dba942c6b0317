// Reasons to reject a URL, with advice for the merchant.
import { Schema } from "effect"
import { EgressUrlReason } from "../platform/egress/EgressUrl.ts"

export const webhookUrlAdvice: { readonly [R in EgressUrlReason]: string } = {
  not_a_url:
    "Send one absolute URL such as https://shop.example.com/webhooks, without spaces or backslashes.",
  scheme: "Use https: the service sends only encrypted webhooks.",
  credentials:
    "Remove the user name and password from the URL; check the signature header to know the sender.",
  fragment: "Remove the # and all after it: a fragment never reaches a server.",
  too_long: "Shorten the URL to at most 2048 characters.",
  ip_address: "Use a host name instead of the IP address: the certificate is checked for the name.",
  port: "Use port 443, or 1024 and above.",
  hostname: "Use the public host name of your endpoint, such as shop.example.com.",
  own_host: "Use your own server's host name: this one is the payment service itself."
}

/** A URL that webhooks are not sent to; `message` tells the merchant what to do. */
export class WebhookUrlRefused extends Schema.TaggedError<WebhookUrlRefused>()("WebhookUrlRefused", {
  reason: EgressUrlReason,
  message: Schema.String
}) {
  static because(reason: EgressUrlReason): WebhookUrlRefused {
    return new WebhookUrlRefused({ reason, message: webhookUrlAdvice[reason] })
  }
}

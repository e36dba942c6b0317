"""Webhooks: verifies a delivery and returns its event and order."""

import hashlib
import hmac
import json
import re
import time
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional


class WebhookVerificationError(Exception):
    """The delivery is not the service's, or it is too old. Return 400 and do nothing."""


class WebhookOrder(NamedTuple):
    payment_id: str
    intent_url: str


class WebhookDelivery(NamedTuple):
    #: ``{"type": …, "id": …}`` and, for ``payment.settled``, the transaction, payer and tokenChanges.
    event: Dict[str, Any]
    #: The paid order; None if the delivery specifies none, like a ``test`` event.
    order: Optional[WebhookOrder]


def idempotency_key(event: Mapping[str, Any]) -> str:
    """``<type>:<id>``: store it under a unique constraint, in the transaction that marks the order paid."""
    return f"{event['type']}:{event['id']}"


def verify_webhook(
    body: bytes, headers: Mapping[str, str], secret: str, *, now: Optional[int] = None
) -> WebhookDelivery:
    """Verifies the raw body; ``headers`` in any case. A delivery is valid from 30 s before its timestamp to 300 s after.

    :raises WebhookVerificationError: if a signature is missing, malformed, wrong or too old, or the secret is empty.
    """
    # Anybody can sign with an empty secret.
    if not secret:
        raise WebhookVerificationError("the signing secret is not set")
    fields = {name.lower(): value for name, value in headers.items()}

    def signed(header: str, text: Callable[[str], str]) -> int:
        match = re.fullmatch(r"t=(\d{1,15}),v1=([0-9a-f]{64})", fields.get(header) or "", re.ASCII)
        if match is None:
            raise WebhookVerificationError(f"{header} is missing or malformed")
        expected = hmac.new(secret.encode(), text(match[1]).encode() + body, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(expected, match[2]):
            raise WebhookVerificationError(f"{header} does not match")
        return int(match[1])

    at = signed("x-service-signature", lambda t: f"{t}.")
    age = (int(time.time()) if now is None else now) - at
    if not -30 <= age <= 300:
        raise WebhookVerificationError("the signature is too old, or in the future")
    try:
        event = json.loads(body)
    except ValueError as error:
        raise WebhookVerificationError("the body is not JSON") from error
    payment, url = fields.get("quittance-payment-id"), fields.get("quittance-intent-url")
    if payment is None and url is None and fields.get("quittance-order-signature") is None:
        return WebhookDelivery(event, None)
    if payment is None or url is None:
        raise WebhookVerificationError("only one of the two order headers is present")
    if signed("quittance-order-signature", lambda t: f"quittance-order\n{t}\n{payment}\n{url}\n") != at:
        raise WebhookVerificationError("the order headers belong to another delivery")
    return WebhookDelivery(event, WebhookOrder(payment, url))

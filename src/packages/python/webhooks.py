"""Webhooks: whether a delivery is the service's, and which order it is about."""

import hashlib
import hmac
import json
import re
import time
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional


class WebhookVerificationError(Exception):
    """Not the service's delivery, or one that is too old. Answer 400, and do nothing."""


class WebhookOrder(NamedTuple):
    payment_id: str
    intent_url: str


class WebhookDelivery(NamedTuple):
    #: ``{"type": …, "id": …}`` and, of ``payment.settled``, the transaction, payer and tokenChanges.
    event: Dict[str, Any]
    #: What was paid; None where the delivery names none, as a ``test`` does.
    order: Optional[WebhookOrder]


def idempotency_key(event: Mapping[str, Any]) -> str:
    """``<type>:<id>``: store it under a unique constraint, in the transaction that marks the order paid."""
    return f"{event['type']}:{event['id']}"


def verify_webhook(
    body: bytes, headers: Mapping[str, str], secret: str, *, now: Optional[int] = None
) -> WebhookDelivery:
    """Verifies the raw body; ``headers`` in any case. A delivery counts from 30 seconds before its time to 300 after.

    :raises WebhookVerificationError: where a signature is missing, malformed, wrong or too old, or the secret is empty.
    """
    # Anybody can sign with an empty one.
    if not secret:
        raise WebhookVerificationError("the signing secret is not set")
    given = {name.lower(): value for name, value in headers.items()}

    def signed(header: str, text: Callable[[str], str]) -> int:
        match = re.fullmatch(r"t=(\d{1,15}),v1=([0-9a-f]{64})", given.get(header) or "", re.ASCII)
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
    payment, url = given.get("quittance-payment-id"), given.get("quittance-intent-url")
    if payment is None and url is None and given.get("quittance-order-signature") is None:
        return WebhookDelivery(event, None)
    if payment is None or url is None:
        raise WebhookVerificationError("the order is named by half")
    if signed("quittance-order-signature", lambda t: f"quittance-order\n{t}\n{payment}\n{url}\n") != at:
        raise WebhookVerificationError("the order is not of this delivery")
    return WebhookDelivery(event, WebhookOrder(payment, url))

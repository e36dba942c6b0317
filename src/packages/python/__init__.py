"""Quittance for a shop's server: typed calls, errors by code, webhooks."""

from ._transport import QuittanceError
from .client import Quittance
from .webhooks import (
    WebhookDelivery,
    WebhookOrder,
    WebhookVerificationError,
    idempotency_key,
    verify_webhook,
)

__all__ = [
    "Quittance",
    "QuittanceError",
    "WebhookDelivery",
    "WebhookOrder",
    "WebhookVerificationError",
    "idempotency_key",
    "verify_webhook",
]

"""A shop in Python: prints its view of the service as JSON."""

import json
import os
import sys

from quittance import Quittance, QuittanceError, WebhookVerificationError, idempotency_key, verify_webhook

url, broken, vectors = sys.argv[1:]
key = os.environ["QUITTANCE_KEY"]
quittance = Quittance(key, url)
order = "https://shop.example.com/orders/1042?größe=1"


def refused(call, **given):
    try:
        call(**given)
    except QuittanceError as error:
        return [error.status, error.code, [detail["path"] for detail in error.details], bool(error.request_id)]


def judged(vector):
    headers = {name.upper(): value for name, value in vector["headers"].items()}
    try:
        event, named = verify_webhook(vector["body"].encode(), headers, vector["secret"], now=vector["now"])
    except WebhookVerificationError:
        return "refused"
    assert idempotency_key(event) == f"{event['type']}:{event['id']}"
    return None if named is None else list(named)


intent = quittance.payment_intents.create(amount="10.00", intent_url=order)
link = quittance.payment_links.create(description="Repair", amount="25.00", once=True)
quittance.payment_links.close(link["link"]["id"])
impatient = Quittance(key, broken, timeout=3, retries=1)
seen = {
    "intent": [intent["intent"]["amount"], intent["intent"]["mode"], len(intent["intentToken"].split("."))],
    "payments": quittance.payments.list(limit=1, intent_url=order),
    "events": quittance.events.list()["events"],
    "links": [[one["description"], one["amount"]] for one in quittance.payment_links.list()["links"]],
    "export": quittance.books.export("payments", from_="2026-01-01", to="2026-01-31").decode().split(",")[0],
    "refused": [
        refused(quittance.payment_intents.create, amount="ten", intent_url=order),
        refused(Quittance("sk_test_wrong", url).payments.list),
        refused(quittance.payments.retrieve, id="a/../b"),
    ],
    "transport": [
        refused(impatient.payments.retrieve, id="retried"),
        refused(impatient.payments.retrieve, id="html"),
        refused(impatient.payments.retrieve, id="elsewhere"),
        refused(impatient.payments.retrieve, id="hangs"),
        refused(impatient.payment_links.create, description="once"),
        refused(impatient.refunds.create, payment_id="lost"),
    ],
    "vectors": [judged(one) for one in json.load(open(vectors, encoding="utf-8"))],
}
print(json.dumps(seen))

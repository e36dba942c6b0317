<?php

// A shop in PHP: prints its view of the service as JSON.

declare(strict_types=1);

use Quittance\{Quittance, QuittanceException, Webhook, WebhookVerificationException};

require getenv('AUTOLOAD');

[, $url, $broken, $vectors] = $argv;
$key = getenv('QUITTANCE_KEY');
$quittance = new Quittance($key, $url);
$order = 'https://shop.example.com/orders/1042?größe=1';

$refused = function (callable $call): ?array {
    try {
        $call();
        return null;
    } catch (QuittanceException $error) {
        return [$error->status, $error->errorCode, array_column($error->details, 'path'), $error->requestId !== null];
    }
};

$judged = function (array $vector): string|array|null {
    try {
        $headers = array_change_key_case($vector['headers'], CASE_UPPER);
        $delivery = Webhook::verify($vector['body'], $headers, $vector['secret'], $vector['now']);
    } catch (WebhookVerificationException) {
        return 'refused';
    }
    Webhook::idempotencyKey($delivery['event']);
    return $delivery['order'] === null ? null : array_values($delivery['order']);
};

$intent = $quittance->paymentIntents->create(amount: '10.00', intentUrl: $order);
$link = $quittance->paymentLinks->create(description: 'Repair', amount: '25.00', once: true);
$quittance->paymentLinks->close($link['link']['id']);
$impatient = new Quittance($key, $broken, timeout: 3, retries: 1);
echo json_encode([
    'intent' => [$intent['intent']['amount'], $intent['intent']['mode'], count(explode('.', $intent['intentToken']))],
    'payments' => $quittance->payments->list(limit: 1, intentUrl: $order),
    'events' => $quittance->events->list()['events'],
    'links' => array_map(fn ($one) => [$one['description'], $one['amount']], $quittance->paymentLinks->list()['links']),
    'export' => explode(',', $quittance->books->export('payments', from: '2026-01-01', to: '2026-01-31'))[0],
    'refused' => [
        $refused(fn () => $quittance->paymentIntents->create(amount: 'ten', intentUrl: $order)),
        $refused(fn () => (new Quittance('sk_test_wrong', $url))->payments->list()),
        $refused(fn () => $quittance->payments->retrieve('a/../b')),
    ],
    'transport' => [
        $refused(fn () => $impatient->payments->retrieve('retried')),
        $refused(fn () => $impatient->payments->retrieve('html')),
        $refused(fn () => $impatient->payments->retrieve('elsewhere')),
        $refused(fn () => $impatient->payments->retrieve('hangs')),
        $refused(fn () => $impatient->paymentLinks->create(description: 'once')),
        $refused(fn () => $impatient->refunds->create(paymentId: 'lost')),
    ],
    'vectors' => array_map($judged, json_decode(file_get_contents($vectors), true)),
], JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES);

<?php

declare(strict_types=1);

namespace Quittance;

/** Webhooks: verifies a delivery and returns its event and order. */
final class Webhook
{
    /** `<type>:<id>`: store it under a unique constraint, in the transaction that marks the order paid. */
    public static function idempotencyKey(array $event): string
    {
        return "{$event['type']}:{$event['id']}";
    }

    /**
     * Verifies the raw body. Header names may be in any case, as from getallheaders(). A delivery is valid
     * from 30 seconds before its timestamp to 300 seconds after it.
     *
     * @param array<string, string> $headers
     * @return array{event: array<string, mixed>, order: array{paymentId: string, intentUrl: string}|null}
     * @throws WebhookVerificationException if a signature is missing, malformed, wrong or too old, or the
     * secret is empty
     */
    public static function verify(
        string $body,
        array $headers,
        #[\SensitiveParameter] string $secret,
        ?int $now = null,
    ): array {
        // Anybody can sign with an empty secret, and an unset variable is empty.
        if ($secret === '') {
            throw new WebhookVerificationException('the signing secret is not set');
        }
        $fields = array_change_key_case($headers, CASE_LOWER);
        $signed = static function (string $header, callable $text) use ($body, $fields, $secret): int {
            if (preg_match('/^t=(\d{1,15}),v1=([0-9a-f]{64})$/D', $fields[$header] ?? '', $match) !== 1) {
                throw new WebhookVerificationException("$header is missing or malformed");
            }
            if (!hash_equals(hash_hmac('sha256', $text($match[1]) . $body, $secret), $match[2])) {
                throw new WebhookVerificationException("$header does not match");
            }
            return (int) $match[1];
        };
        $at = $signed('x-service-signature', static fn (string $t): string => "$t.");
        $age = ($now ?? time()) - $at;
        if ($age > 300 || $age < -30) {
            throw new WebhookVerificationException('the signature is too old, or in the future');
        }
        $event = json_decode($body, true);
        if (!is_array($event)) {
            throw new WebhookVerificationException('the body is not JSON');
        }
        $payment = $fields['quittance-payment-id'] ?? null;
        $url = $fields['quittance-intent-url'] ?? null;
        if ($payment === null && $url === null && !isset($fields['quittance-order-signature'])) {
            return ['event' => $event, 'order' => null];
        }
        if ($payment === null || $url === null) {
            throw new WebhookVerificationException('only one of the two order headers is present');
        }
        if ($signed('quittance-order-signature', static fn (string $t): string => "quittance-order\n$t\n$payment\n$url\n") !== $at) {
            throw new WebhookVerificationException('the order headers belong to another delivery');
        }
        return ['event' => $event, 'order' => ['paymentId' => $payment, 'intentUrl' => $url]];
    }
}

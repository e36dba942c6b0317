<?php

declare(strict_types=1);

namespace Quittance;

/** Webhooks: whether a delivery is the service's, and which order it is about. */
final class Webhook
{
    /** `<type>:<id>`: store it under a unique constraint, in the transaction that marks the order paid. */
    public static function idempotencyKey(array $event): string
    {
        return "{$event['type']}:{$event['id']}";
    }

    /**
     * Verifies the raw body; header names in any case, as getallheaders() has them. A delivery counts from 30
     * seconds before its time to 300 after.
     *
     * @param array<string, string> $headers
     * @return array{event: array<string, mixed>, order: array{paymentId: string, intentUrl: string}|null}
     * @throws WebhookVerificationException where a signature is missing, malformed, wrong or too old, or the secret is
     * empty
     */
    public static function verify(
        string $body,
        array $headers,
        #[\SensitiveParameter] string $secret,
        ?int $now = null,
    ): array {
        // Anybody can sign with an empty one, and a variable that is not set is one.
        if ($secret === '') {
            throw new WebhookVerificationException('the signing secret is not set');
        }
        $given = array_change_key_case($headers, CASE_LOWER);
        $signed = static function (string $header, callable $text) use ($body, $given, $secret): int {
            if (preg_match('/^t=(\d{1,15}),v1=([0-9a-f]{64})$/D', $given[$header] ?? '', $match) !== 1) {
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
        $payment = $given['quittance-payment-id'] ?? null;
        $url = $given['quittance-intent-url'] ?? null;
        if ($payment === null && $url === null && !isset($given['quittance-order-signature'])) {
            return ['event' => $event, 'order' => null];
        }
        if ($payment === null || $url === null) {
            throw new WebhookVerificationException('the order is named by half');
        }
        if ($signed('quittance-order-signature', static fn (string $t): string => "quittance-order\n$t\n$payment\n$url\n") !== $at) {
            throw new WebhookVerificationException('the order is not of this delivery');
        }
        return ['event' => $event, 'order' => ['paymentId' => $payment, 'intentUrl' => $url]];
    }
}

<?php

declare(strict_types=1);

namespace Quittance;

/**
 * A failed call. Switch on $errorCode: codes are stable. NO_ANSWER: no complete response arrived.
 * UNKNOWN_ANSWER: the response is not the service's. $status is 0 if there was no response.
 */
final class QuittanceException extends \RuntimeException
{
    /** @param list<array<string, string>> $details */
    public function __construct(
        public readonly string $errorCode,
        public readonly int $status,
        string $message,
        public readonly bool $retryable = false,
        public readonly ?string $requestId = null,
        public readonly ?string $reason = null,
        public readonly array $details = [],
        public readonly ?string $docUrl = null,
        /** Seconds to wait, if the service sent retry-after. */
        public readonly ?float $retryAfter = null,
    ) {
        parent::__construct($message);
    }
}

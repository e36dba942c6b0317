<?php

declare(strict_types=1);

namespace Quittance;

/**
 * What went wrong with a call. Switch on $errorCode: codes are stable. NO_ANSWER: no complete answer came;
 * UNKNOWN_ANSWER: it was not the service's. $status is 0 where no answer came.
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
        /** Seconds to wait, where the service said so. */
        public readonly ?float $retryAfter = null,
    ) {
        parent::__construct($message);
    }
}

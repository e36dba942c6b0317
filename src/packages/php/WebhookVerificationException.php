<?php

declare(strict_types=1);

namespace Quittance;

/** Not the service's delivery, or one that is too old. Answer 400, and do nothing. */
final class WebhookVerificationException extends \RuntimeException
{
}

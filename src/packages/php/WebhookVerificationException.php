<?php

declare(strict_types=1);

namespace Quittance;

/** The delivery is not the service's, or it is too old. Return 400 and do nothing. */
final class WebhookVerificationException extends \RuntimeException
{
}

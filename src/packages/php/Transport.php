<?php

declare(strict_types=1);

namespace Quittance;

/** One HTTP call: time-out, retries, errors from the envelope. Needs allow_url_fopen and openssl, no other extension. */
final class Transport
{
    private const MAX_WAIT = 30.0;

    public function __construct(
        #[\SensitiveParameter] private readonly string $key,
        private readonly string $baseUrl,
        private readonly float $timeout,
        private readonly int $retries,
    ) {
    }

    /**
     * @param array<string, mixed> $query
     * @param array<string, mixed>|null $body
     */
    public function call(
        string $method,
        string $path,
        array $query = [],
        ?array $body = null,
        bool $idempotent = true,
        bool $raw = false,
    ): mixed {
        $search = http_build_query(self::withoutNull($query), '', '&', PHP_QUERY_RFC3986);
        $target = $search === '' ? $path : "$path?$search";
        for ($tried = 0; ; $tried++) {
            try {
                return $this->attempt($method, $target, $body, $raw);
            } catch (QuittanceException $error) {
                $safe = $error->status === 429 || ($idempotent && ($error->status >= 500 || $error->status === 0));
                // Half to all of an exponential delay, so that clients do not return all at once.
                $wait = $error->retryAfter ?? 0.25 * 2 ** $tried * (0.5 + mt_rand() / mt_getrandmax() / 2);
                if ($tried >= $this->retries || !$safe || $wait > self::MAX_WAIT) {
                    throw $error;
                }
                usleep((int) ($wait * 1_000_000));
            }
        }
    }

    /** A version 4 UUID. */
    public static function uuid(): string
    {
        $bytes = random_bytes(16);
        $bytes[6] = chr(ord($bytes[6]) & 0x0f | 0x40);
        $bytes[8] = chr(ord($bytes[8]) & 0x3f | 0x80);
        return vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split(bin2hex($bytes), 4));
    }

    /**
     * @param array<string, mixed> $values
     * @return array<string, mixed>
     */
    private static function withoutNull(array $values): array
    {
        return array_filter($values, static fn (mixed $value): bool => $value !== null);
    }

    /** @param array<string, mixed>|null $body */
    private function attempt(string $method, string $path, ?array $body, bool $raw): mixed
    {
        $http = [
            'method' => $method,
            'header' => [
                "authorization: Bearer $this->key",
                'accept: ' . ($raw ? '*/*' : 'application/json'),
                'user-agent: quittance-php',
                ...($body === null ? [] : ['content-type: application/json']),
            ],
            'timeout' => $this->timeout,
            'ignore_errors' => true,
            // A redirect would send the key to another address.
            'follow_location' => 0,
            // PHP would accept an incomplete chunked body as complete.
            'auto_decode' => false,
        ];
        if ($body !== null) {
            $http['content'] = json_encode((object) self::withoutNull($body), JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES);
        }
        $stream = @fopen(rtrim($this->baseUrl, '/') . $path, 'r', false, stream_context_create(['http' => $http]));
        if ($stream === false) {
            throw self::noAnswer();
        }
        $text = stream_get_contents($stream);
        $meta = stream_get_meta_data($stream);
        fclose($stream);
        /** @var list<string> $lines */
        $lines = $meta['wrapper_data'] ?? [];
        [$status, $headers] = self::head($lines);
        if ($text === false || $meta['timed_out'] || $status === 0) {
            throw self::noAnswer();
        }
        if (strtolower($headers['transfer-encoding'] ?? '') === 'chunked') {
            $text = self::joined($text) ?? throw self::noAnswer();
        }
        if (isset($headers['content-length']) && strlen($text) < (int) $headers['content-length']) {
            throw self::noAnswer();
        }
        if ($status < 200 || $status > 299) {
            throw self::errorOf($status, $headers, $text);
        }
        if ($raw) {
            // A proxy may hide that a file broke off. A complete file ends with its number of rows.
            $isWhole = preg_match('/(^|\n)(end[,;]\d+[,;]*\r\n|\],"rows":\d+\}\n)\z/', substr($text, -128)) === 1;
            return $isWhole ? $text : throw self::noAnswer();
        }
        if ($text === '') {
            return null;
        }
        $answer = json_decode($text, true);
        return is_array($answer) ? $answer : throw self::errorOf($status, $headers, $text);
    }

    /**
     * @param list<string> $lines
     * @return array{int, array<string, string>}
     */
    private static function head(array $lines): array
    {
        $status = 0;
        $headers = [];
        foreach ($lines as $line) {
            if (preg_match('/^HTTP\/\S+ (\d{3})/', $line, $match) === 1) {
                $status = (int) $match[1];
                $headers = [];
            } elseif (str_contains($line, ':')) {
                [$name, $value] = explode(':', $line, 2);
                $headers[strtolower($name)] = trim($value);
            }
        }
        return [$status, $headers];
    }

    /** The content of the chunks; null if the last chunk is missing. */
    private static function joined(string $chunks): ?string
    {
        $parts = [];
        for ($at = 0; preg_match('/\G([0-9a-f]{1,12})[^\r\n]*\r\n/i', $chunks, $match, 0, $at) === 1; $at += $size + 2) {
            $at += strlen($match[0]);
            $size = (int) hexdec($match[1]);
            if ($size === 0) {
                return implode('', $parts);
            }
            $parts[] = substr($chunks, $at, $size);
        }
        return null;
    }

    private static function noAnswer(): QuittanceException
    {
        return new QuittanceException(
            'NO_ANSWER',
            0,
            'The service did not respond. Check $baseUrl and the network; the call may have been carried out.',
            retryable: true,
        );
    }

    /** @param array<string, string> $headers */
    private static function errorOf(int $status, array $headers, string $text): QuittanceException
    {
        $after = (float) ($headers['retry-after'] ?? 0);
        $retryAfter = $after > 0 ? $after : null;
        $error = json_decode($text, true)['error'] ?? null;
        if (!is_array($error) || !is_string($error['code'] ?? null) || !is_string($error['message'] ?? null)) {
            return new QuittanceException(
                'UNKNOWN_ANSWER',
                $status,
                "The response (HTTP $status) is not from Quittance. Check \$baseUrl and any proxy in front of the service.",
                $status >= 500,
                $headers['x-request-id'] ?? null,
                retryAfter: $retryAfter,
            );
        }
        return new QuittanceException(
            $error['code'],
            $status,
            $error['message'],
            $error['retryable'] ?? false,
            $error['requestId'] ?? null,
            $error['reason'] ?? null,
            $error['details'] ?? [],
            $error['docUrl'] ?? null,
            $retryAfter,
        );
    }
}

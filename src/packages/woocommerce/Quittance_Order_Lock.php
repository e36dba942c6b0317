<?php

declare(strict_types=1);

/**
 * Lets one process at a time work on an order. The lock is a row of WordPress' options, whose names are
 * unique; WordPress locks its own upgrades the same way. The next process takes over the lock of a dead one.
 */
final class Quittance_Order_Lock
{
    private const WAIT_SECONDS = 5;
    /** Longer than PHP lets a request run. */
    private const STALE_SECONDS = 180;

    private function __construct(private string $name, private string $value)
    {
    }

    /** Null if another process holds the lock. */
    public static function take(int $order): ?self
    {
        $lock = new self("quittance_order_$order", time() . '-' . bin2hex(random_bytes(8)));
        for ($end = microtime(true) + self::WAIT_SECONDS; !$lock->try_once(); usleep(100_000)) {
            if (microtime(true) >= $end) {
                return null;
            }
        }
        return $lock;
    }

    public function release(): void
    {
        global $wpdb;
        $wpdb->query($wpdb->prepare(
            "DELETE FROM $wpdb->options WHERE option_name = %s AND option_value = %s",
            $this->name,
            $this->value,
        ));
    }

    private function try_once(): bool
    {
        global $wpdb;
        $added = $wpdb->query($wpdb->prepare(
            "INSERT IGNORE INTO $wpdb->options (option_name, option_value, autoload) VALUES (%s, %s, 'no')",
            $this->name,
            $this->value,
        ));
        if ($added === 1) {
            return true;
        }
        $held = (string) $wpdb->get_var($wpdb->prepare(
            "SELECT option_value FROM $wpdb->options WHERE option_name = %s",
            $this->name,
        ));
        // The lock was just released; the next try adds it.
        if ($held === '' || (int) $held > time() - self::STALE_SECONDS) {
            return false;
        }
        return $wpdb->query($wpdb->prepare(
            "UPDATE $wpdb->options SET option_value = %s WHERE option_name = %s AND option_value = %s",
            $this->value,
            $this->name,
            $held,
        )) === 1;
    }
}

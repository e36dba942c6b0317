<?php

// Runs the gateway outside WordPress, with stand-ins for WordPress and WooCommerce, and an order in a file.
// Arguments: the unpacked plugin, the file, the action, and its JSON.

declare(strict_types=1);

const ABSPATH = '/';
define('ORDER', (int) (getenv('ORDER') ?: 1042));
[, $plugin, $file, $action, $given] = $argv;
$given = json_decode($given, true);
$hooks = [];
$kept = kept();

function add_action(string $name, callable $run): void { $GLOBALS['hooks'][$name][] = $run; }
function add_filter(string $name, callable $run): void { $GLOBALS['hooks'][$name][] = $run; }
function apply_filters(string $name, mixed $value, mixed ...$more): mixed { return $value; }
function get_woocommerce_currency(): string { return getenv('CURRENCY') ?: 'USD'; }
function wc_add_notice(string $text, string $kind): void { fwrite(STDERR, "$kind: $text\n"); }
/** A process reads an order once: later ones of it come from WordPress' cache. */
function wc_get_order(int|false|null $id): WC_Order|false
{
    static $isCached = false;
    $GLOBALS['kept'] = $isCached ? $GLOBALS['kept'] : kept();
    $isCached = true;
    return $id === ORDER ? new WC_Order() : false;
}
function wc_get_order_id_by_order_key(string $key): int { return in_array($key, ['wc_order_abc', ''], true) ? ORDER : 0; }
function wc_get_logger(): object { return new class { public function error(string $text, array $context): void {} }; }
function WC(): object
{
    return new class {
        public function api_request_url(string $name): string { return "https://shop.example.com/wc-api/$name/"; }
        public function payment_gateways(): object
        {
            return new class {
                public function payment_gateways(): array { return ['quittance' => $GLOBALS['gateway']]; }
            };
        }
    };
}
function esc_url(string $url): string { return htmlspecialchars($url); }
function get_option(string $name, mixed $otherwise): mixed { return $otherwise; }
function plugins_url(string $path, string $beside): string { return dirname($beside) . "/$path"; }
function wp_register_script(string $handle, string $source, array $needs, string $version, bool $inFooter): void { $GLOBALS['scripts'][$handle] = ['source' => $source, 'needs' => $needs]; }

/** As the database has it, for every process. */
function kept(): array { return is_file($GLOBALS['file']) ? json_decode(file_get_contents($GLOBALS['file']), true) : []; }
function keep(): void
{
    $written = $GLOBALS['file'] . getmypid();
    file_put_contents($written, json_encode($GLOBALS['kept']));
    rename($written, $GLOBALS['file']);
}

/** The table of options, for every process: one statement at a time. */
final class wpdb
{
    public string $options = 'wp_options';
    public function prepare(string $statement, string ...$values): array { return [$statement, $values]; }
    public function get_var(array $prepared): ?string { return $this->table(fn (array &$rows): ?string => $rows[$prepared[1][0]] ?? null); }
    public function query(array $prepared): int
    {
        [$statement, $values] = $prepared;
        return $this->table(function (array &$rows) use ($statement, $values): int {
            switch (strtok($statement, ' ')) {
                case 'INSERT':
                    [$name, $value] = $values;
                    $changes = !isset($rows[$name]);
                    if ($changes) {
                        $rows[$name] = $value;
                    }
                    return (int) $changes;
                case 'UPDATE':
                    [$value, $name, $before] = $values;
                    $changes = ($rows[$name] ?? null) === $before;
                    if ($changes) {
                        $rows[$name] = $value;
                    }
                    return (int) $changes;
                default:
                    [$name, $value] = $values;
                    $changes = ($rows[$name] ?? null) === $value;
                    if ($changes) {
                        unset($rows[$name]);
                    }
                    return (int) $changes;
            }
        });
    }
    private function table(callable $run): mixed
    {
        $open = fopen("{$GLOBALS['file']}.options", 'c+');
        flock($open, LOCK_EX);
        $rows = json_decode(stream_get_contents($open) ?: '[]', true);
        $said = $run($rows);
        ftruncate($open, 0);
        rewind($open);
        fwrite($open, json_encode($rows));
        fclose($open);
        return $said;
    }
}
$wpdb = new wpdb();

final class WP_Error
{
    public function __construct(public string $code, public string $message) {}
}

final class WC_Order
{
    public function get_id(): int { return ORDER; }
    public function get_currency(): string { return $GLOBALS['kept']['currency'] ?? 'USD'; }
    public function get_total(): string { return $GLOBALS['kept']['total'] ?? '42.50'; }
    public function get_meta(string $name): string { return $GLOBALS['kept']['meta'][$name] ?? ''; }
    public function update_meta_data(string $name, string $value): void { $GLOBALS['kept']['meta'][$name] = $value; }
    public function read_meta_data(bool $anew): void { $GLOBALS['kept'] = $anew ? kept() : $GLOBALS['kept']; }
    public function save(): void { keep(); }
    public function is_paid(): bool { return in_array($GLOBALS['kept']['status'] ?? 'pending', ['processing', 'completed'], true); }
    public function get_status(): string { return $GLOBALS['kept']['status'] ?? 'pending'; }
    public function has_status(string|array $status): bool { return in_array($this->get_status(), (array) $status, true); }
    public function get_payment_method(): string { return getenv('METHOD') ?: 'quittance'; }
    public function needs_payment(): bool { return $this->has_status(['pending', 'failed']); }
    public function get_checkout_payment_url(): string { return 'https://shop.example.com/checkout/order-pay/1042/?pay_for_order=true&key=wc_order_abc'; }
    public function get_date_paid(): ?string { return $GLOBALS['kept']['datePaid'] ?? null; }
    public function get_transaction_id(): string { return $GLOBALS['kept']['transaction'] ?? ''; }
    public function add_order_note(string $note): void { $GLOBALS['kept']['notes'][] = $note; keep(); }
    public function update_status(string $status, string $note): void { $GLOBALS['kept']['status'] = $status; $this->add_order_note($note); }
    public function payment_complete(string $transaction): bool
    {
        // Only for orders that wait for a payment or were cancelled; for others it does nothing, and returns true.
        if (!$this->has_status(['pending', 'on-hold', 'failed', 'cancelled'])) {
            return true;
        }
        // A callback has thrown, which it catches, or the database has not stored the order, which it logs.
        if (getenv('COMPLETES') !== false) {
            return getenv('COMPLETES') === 'unsaved';
        }
        // The time of mails and stock changes while WooCommerce completes a payment.
        usleep((int) getenv('SLOW') * 1000);
        $GLOBALS['kept']['status'] = 'processing';
        $GLOBALS['kept']['transaction'] = $transaction;
        $GLOBALS['kept']['datePaid'] ??= date('c');
        $GLOBALS['kept']['completed'] = ($GLOBALS['kept']['completed'] ?? 0) + 1;
        file_put_contents("{$GLOBALS['file']}.completed", "$transaction\n", FILE_APPEND);
        keep();
        return true;
    }
}

class WC_Payment_Gateway
{
    public $id, $method_title, $method_description, $has_fields, $supports, $form_fields, $title;
    public function init_settings(): void {}
    public function get_option(string $name): string { return getenv(strtoupper("WC_$name")) ?: ''; }
    public function is_available() { return true; }
    public function get_return_url(WC_Order $order): string { return 'https://shop.example.com/checkout/order-received/1042/?key=wc_order_abc'; }
    public function process_admin_options(): void {}
}

/** What a payment method of the checkout block is made of. */
abstract class BlockPaymentMethod
{
    protected $name = '';
    protected $settings = [];
    abstract public function initialize();
    public function get_name() { return $this->name; }
}
class_alias(BlockPaymentMethod::class, 'Automattic\\WooCommerce\\Blocks\\Payments\\Integrations\\AbstractPaymentMethodType');

/** What the checkout block is given of the methods that register, which are all that it offers. */
function checkout_block(): array
{
    foreach ($GLOBALS['hooks']['woocommerce_blocks_loaded'] ?? [] as $run) {
        $run();
    }
    $registry = new class {
        public array $methods = [];
        public function register(BlockPaymentMethod $method): void { $this->methods[] = $method; }
    };
    foreach ($GLOBALS['hooks']['woocommerce_blocks_payment_method_type_registration'] ?? [] as $run) {
        $run($registry);
    }
    return array_map(static function (BlockPaymentMethod $method): array {
        $method->initialize();
        $handles = $method->get_payment_method_script_handles();
        return [
            'name' => $method->get_name(),
            'active' => $method->is_active(),
            'data' => $method->get_payment_method_data(),
            'scripts' => array_map(static fn (string $handle): array => $GLOBALS['scripts'][$handle], $handles),
        ];
    }, $registry->methods);
}

/** A refund in WooCommerce: through the gateway, which may refuse it, or by hand. */
function refunded(string $amount, bool $throughGateway): mixed
{
    // WooCommerce has checked the amount that remains to refund before this call.
    $said = $throughGateway && wc_get_order(ORDER) ? $GLOBALS['gateway']->process_refund(ORDER, $amount, 'Damaged') : true;
    foreach ($said === true ? $GLOBALS['hooks']['woocommerce_refund_created'] ?? [] : [] as $run) {
        $run(77, ['order_id' => ORDER, 'amount' => $amount, 'refund_payment' => $throughGateway]);
    }
    return $said;
}

/** What the page says on which the buyer comes back to the shop. */
function received_text(): string
{
    $text = 'Thank you. Your order has been received.';
    foreach ($GLOBALS['hooks']['woocommerce_thankyou_order_received_text'] ?? [] as $run) {
        $text = $run($text, wc_get_order(ORDER));
    }
    return $text;
}

require "$plugin/quittance.php";
foreach ($hooks['plugins_loaded'] as $run) {
    $run();
}
$gateways = [];
foreach ($hooks['woocommerce_payment_gateways'] as $run) {
    $gateways = $run($gateways);
}
$gateway = new $gateways[0]();
$said = match ($action) {
    'available' => $gateway->is_available(),
    'block' => checkout_block(),
    'received' => received_text(),
    'pay' => $gateway->process_payment(ORDER),
    'webhook' => $gateway->receive($given['body'], $given['headers']),
    'refund' => refunded($given['amount'], true),
    'refund by hand' => refunded($given['amount'], false),
    'total' => $kept['total'] = $given['total'],
    'currency' => $kept['currency'] = $given['currency'],
    'status' => $kept['status'] = $given['status'],
};
keep();
echo json_encode(['said' => $said, 'order' => (object) $kept], JSON_THROW_ON_ERROR);

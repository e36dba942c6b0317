<?php

declare(strict_types=1);

use Quittance\{Quittance, QuittanceException, Webhook, WebhookVerificationException};

/** Sends the buyer to the service's checkout. Only the signed webhook marks an order paid. */
class WC_Gateway_Quittance extends WC_Payment_Gateway
{
    /** A token can open a payment for five minutes; a token that is nearly over is replaced. */
    private const TOKEN_SECONDS = 240;
    private const CURRENCY = 'USD';
    /** WooCommerce's own list; a shop may filter it. */
    private const UNPAID = ['on-hold', 'pending', 'failed', 'cancelled'];

    public function __construct()
    {
        $this->id = 'quittance';
        $this->method_title = 'Quittance';
        $this->method_description = 'USDC, paid from the buyer\'s wallet to yours. Webhooks come to '
            . WC()->api_request_url('quittance') . '; register that address at your service.';
        $this->has_fields = false;
        $this->supports = ['products', 'refunds'];
        $this->form_fields = [
            'enabled' => ['title' => 'Enable', 'type' => 'checkbox', 'label' => 'Take payments in USDC', 'default' => 'no'],
            'title' => ['title' => 'Title', 'type' => 'text', 'default' => 'USDC'],
            'base_url' => ['title' => 'Service', 'type' => 'url', 'description' => 'Such as https://pay.example.com'],
            'secret_key' => ['title' => 'Secret key', 'type' => 'password', 'description' => 'sk_test_… takes only test money.'],
            'publishable_key' => ['title' => 'Publishable key', 'type' => 'text'],
            'signing_secret' => ['title' => 'Signing secret', 'type' => 'password', 'description' => 'whsec_…, of the webhook endpoint.'],
        ];
        $this->init_settings();
        $this->title = (string) $this->get_option('title');
        add_action("woocommerce_update_options_payment_gateways_$this->id", [$this, 'process_admin_options']);
        add_action('woocommerce_api_quittance', [$this, 'handle_webhook']);
    }

    public function is_available()
    {
        $settings = ['base_url', 'secret_key', 'publishable_key', 'signing_secret'];
        return parent::is_available() && get_woocommerce_currency() === self::CURRENCY
            && !in_array('', array_map(fn (string $name): string => (string) $this->get_option($name), $settings), true);
    }

    /** @return array{result: string, redirect?: string} */
    public function process_payment($order_id)
    {
        $lock = Quittance_Order_Lock::take((int) $order_id);
        if ($lock === null) {
            return $this->not_started();
        }
        try {
            $order = wc_get_order($order_id);
            if ($order->get_currency() !== self::CURRENCY) {
                return $this->not_started('This order is not in US dollars. Please choose another way to pay.');
            }
            // Another request may have stored data since this one began.
            $order->read_meta_data(true);
            $token = $this->token_of($order);
        } catch (QuittanceException $error) {
            wc_get_logger()->error("$error->errorCode: {$error->getMessage()} ($error->requestId)", ['source' => $this->id]);
            return $this->not_started();
        } finally {
            $lock->release();
        }
        if ($token === null) {
            return ['result' => 'success', 'redirect' => $this->get_return_url($order)];
        }
        $fragment = http_build_query(['token' => $token, 'key' => $this->get_option('publishable_key')]);
        return ['result' => 'success', 'redirect' => "{$this->base_url()}/pay#$fragment"];
    }

    /** @return array{result: string} */
    private function not_started(string $why = 'The payment could not be started. Please try again.'): array
    {
        wc_add_notice($why, 'error');
        return ['result' => 'failure'];
    }

    public function handle_webhook(): void
    {
        [$status, $text] = $this->receive((string) file_get_contents('php://input'), getallheaders());
        status_header($status);
        echo $text;
        exit;
    }

    /**
     * The service retries after any response but 2xx, and then raises an alert.
     *
     * @param array<string, string> $headers
     * @return array{int, string} status and body
     */
    public function receive(string $body, array $headers): array
    {
        try {
            ['event' => $event, 'order' => $order] = Webhook::verify($body, $headers, $this->get_option('signing_secret'));
        } catch (WebhookVerificationException $error) {
            return [400, $error->getMessage()];
        }
        if ($event['type'] !== 'payment.settled') {
            return [200, 'nothing to do'];
        }
        parse_str((string) parse_url($order['intentUrl'] ?? '', PHP_URL_QUERY), $query);
        $key = $query['key'] ?? '';
        // The URL of a payment link has no key, and an imported order may have an empty one.
        $id = is_string($key) && $key !== '' ? (int) wc_get_order_id_by_order_key($key) : 0;
        if ($id === 0) {
            return [404, 'no such order'];
        }
        $lock = Quittance_Order_Lock::take($id);
        if ($lock === null) {
            return [503, 'another delivery for this order is in progress'];
        }
        try {
            return $this->pay($id, $event, $order['paymentId'] ?? '');
        } finally {
            $lock->release();
        }
    }

    /**
     * Runs under the order's lock and reads the order inside it: if one event is delivered twice at the same
     * moment, the second delivery finds the order paid.
     *
     * @param array<string, mixed> $event
     * @return array{int, string} status and body
     */
    private function pay(int $id, array $event, string $payment): array
    {
        $order = wc_get_order($id);
        if (!$order) {
            return [404, 'no such order'];
        }
        $transaction = $event['transactionId'];
        // This also covers an order that was cancelled or refunded since: a repeated event ships nothing.
        $noted = $this->noted($order);
        if ($order->get_transaction_id() === $transaction || in_array($transaction, $noted, true)) {
            return [200, 'paid already'];
        }
        $takes_payment = $order->has_status(apply_filters('woocommerce_valid_order_statuses_for_payment_complete', self::UNPAID, $order));
        if ($order->is_paid() || $order->has_status('refunded') || (!$takes_payment && $order->get_date_paid() !== null)) {
            $order->add_order_note("Paid a second time, by transaction $transaction. Refund that payment in your Quittance dashboard: a refund here returns the order's first payment.");
            $this->store_noted($order, [...$noted, $transaction]);
            return [200, 'paid already'];
        }
        $paid = array_sum(array_map(fn (array $change): int => (int) $change['amountAtomic'], $event['tokenChanges']));
        $order->update_meta_data('_quittance_payment_id', $payment);
        $order->save();
        if ($paid !== $this->atomic_of($order) || $order->get_currency() !== self::CURRENCY) {
            $order->update_status('on-hold', "Transaction $transaction does not match the order's current total.");
            $this->store_noted($order, [...$noted, $transaction]);
            return [200, 'on hold'];
        }
        try {
            $refunded = $this->is_refunded($payment);
        } catch (QuittanceException $error) {
            // The service sends the event again.
            return [503, $error->errorCode];
        }
        if ($refunded) {
            $note = "Transaction $transaction paid the order, but was refunded before this event arrived. Ship nothing for it.";
            $order->has_status('cancelled') ? $order->add_order_note($note) : $order->update_status('on-hold', $note);
            $this->store_noted($order, [...$noted, $transaction]);
            return [200, 'refunded'];
        }
        if (!$takes_payment) {
            $order->update_status('on-hold', "Transaction $transaction paid the order in a status in which WooCommerce completes no payment: {$order->get_status()}. Ship nothing for it.");
            $this->store_noted($order, [...$noted, $transaction]);
            return [200, 'on hold'];
        }
        $order->payment_complete($transaction);
        // WooCommerce only logs errors, so the result is checked. After a 503 the service sends the event
        // again.
        return wc_get_order($id)->get_transaction_id() === $transaction
            ? [200, 'paid']
            : [503, 'WooCommerce has not completed the payment'];
    }

    /**
     * The merchant's own wallet sends a refund. The first call requests it; once the chain has proven the
     * transfer, the same call succeeds.
     *
     * @return true|WP_Error
     */
    public function process_refund($order_id, $amount = null, $reason = '')
    {
        $lock = Quittance_Order_Lock::take((int) $order_id);
        if ($lock === null) {
            return new WP_Error('quittance', 'Another refund or payment of this order is in progress. Try again in a moment.');
        }
        try {
            return $this->refund((int) $order_id, (string) $amount, (string) $reason);
        } finally {
            $lock->release();
        }
    }

    /** Runs under the order's lock, so the second of two simultaneous calls sees the first one's request. */
    private function refund(int $id, string $amount, string $reason): true|WP_Error
    {
        $order = wc_get_order($id);
        // WooCommerce read the order before this request held the lock.
        $order->read_meta_data(true);
        $payment = (string) $order->get_meta('_quittance_payment_id');
        $usd = Quittance_Order_Refunds::usd($amount);
        if ($payment === '' || (float) $usd <= 0) {
            return new WP_Error('quittance', 'There is no payment to refund, or no amount.');
        }
        try {
            $quittance = $this->quittance();
            $refunds = new Quittance_Order_Refunds($order, $payment, $usd);
            $requested = $refunds->requested();
            $refund = $requested === null ? null : Quittance_Order_Refunds::at($quittance, $requested);
            if ($refund !== null && in_array($refund['status'], ['failed', 'cancelled'], true)) {
                $refunds->done($requested);
                $requested = $refund = null;
            }
            if ($requested === null && $refunds->report_others($this->refunds_of($payment, $quittance))) {
                return new WP_Error('quittance', "Your Quittance dashboard has a refund of $usd USDC of this payment that was not requested"
                    . ' here. If you mean that refund, record it with "Refund manually"; for another refund, refund here again.');
            }
            $refund ??= $quittance->refunds->create(
                id: $requested ?? $refunds->new_request(),
                paymentId: $payment,
                amount: $usd,
                reason: $reason ?: null,
            )['refund'];
            if ($refund['status'] !== 'proven') {
                return $this->to_send($refund);
            }
            // While the dropped transfer may return, no other refund is requested.
            if (isset($refund['droppedAt'])) {
                return new WP_Error('quittance', "The chain no longer shows the transfer of $usd USDC. Wait until it does, or cancel"
                    . ' that refund in your Quittance dashboard and refund here again.');
            }
            $refunds->done($refund['id']);
            return true;
        } catch (QuittanceException $error) {
            return new WP_Error('quittance', $error->getMessage());
        }
    }

    /** True if the merchant refunded the payment or part of it, or such a refund is pending. */
    private function is_refunded(string $payment): bool
    {
        // Tried only once, because the order stays locked until then. The service sends the event again.
        foreach ($this->refunds_of($payment, $this->quittance(10.0, 0)) as $refund) {
            if ($refund['status'] === 'pending' || $refund['status'] === 'proven') {
                return true;
            }
        }
        return false;
    }

    /**
     * All refunds of the payment, newest first, over all pages.
     *
     * @return iterable<array<string, mixed>>
     */
    private function refunds_of(string $payment, Quittance $quittance): iterable
    {
        $last = null;
        do {
            $page = $quittance->refunds->list(paymentId: $payment, limit: 100, startingAfter: $last);
            foreach ($page['refunds'] as $refund) {
                $last = $refund['id'];
                yield $refund;
            }
        } while ($page['hasMore'] && $page['refunds'] !== []);
    }

    /**
     * Transactions that an order note mentions, so that a repeated event adds no second note.
     *
     * @return list<string>
     */
    private function noted(WC_Order $order): array
    {
        return array_values(array_filter(explode(' ', (string) $order->get_meta('_quittance_noted'))));
    }

    /** @param list<string> $transactions */
    private function store_noted(WC_Order $order, array $transactions): void
    {
        $order->update_meta_data('_quittance_noted', implode(' ', $transactions));
        $order->save();
    }

    /** @param array<string, mixed> $refund */
    private function to_send(array $refund): WP_Error
    {
        return new WP_Error('quittance', "Send {$refund['amount']} USDC from your receiving address to {$refund['recipient']}"
            . ' (your Quittance dashboard shows the refund with its QR code), then refund here again.');
    }

    /**
     * Null if the order is already paid. Retries use the same payment per order and amount, unless it was
     * refunded.
     */
    private function token_of(WC_Order $order): ?string
    {
        $amount = $this->amount_of($order);
        $stored = json_decode((string) $order->get_meta('_quittance_intent'), true);
        // A copied order, such as a renewal, has the first one's data. Earlier releases stored no order id.
        if (is_array($stored) && ($stored['order'] ?? $order->get_id()) === $order->get_id()) {
            $payment = $this->payment_of($stored['paymentId']);
            $status = $payment['status'] ?? null;
            $is_same = $stored['amount'] === $amount;
            // A payment of another amount counts until its event arrives and puts the order on hold.
            $handled = [...$this->noted($order), $order->get_transaction_id()];
            $counts = $status === 'settled' && ($is_same || !in_array($payment['reportedTransactionId'], $handled, true));
            if ($counts && !$this->is_refunded($stored['paymentId'])) {
                return null;
            }
            if ($is_same && ($status === 'pending' || ($status === null && time() - $stored['at'] < self::TOKEN_SECONDS))) {
                return $stored['token'];
            }
        }
        $token = $this->quittance()->paymentIntents->create(amount: $amount, intentUrl: $this->get_return_url($order))['intentToken'];
        $claims = json_decode((string) base64_decode(strtr(explode('.', $token)[1], '-_', '+/')), true);
        $order->update_meta_data('_quittance_intent', json_encode(
            ['order' => $order->get_id(), 'token' => $token, 'paymentId' => $claims['jti'], 'amount' => $amount, 'at' => time()],
            JSON_THROW_ON_ERROR,
        ));
        $order->save();
        return $token;
    }

    /**
     * Null if nobody has opened the payment yet.
     *
     * @return array<string, mixed>|null
     */
    private function payment_of(string $payment): ?array
    {
        try {
            return $this->quittance()->payments->retrieve($payment)['payment'];
        } catch (QuittanceException $error) {
            if ($error->errorCode === 'PAYMENT_NOT_FOUND') {
                return null;
            }
            throw $error;
        }
    }

    private function amount_of(WC_Order $order): string
    {
        return number_format((float) $order->get_total(), 2, '.', '');
    }

    /** Computed from the formatted amount: PHP rounds a total of 1.005 in more than one way. */
    private function atomic_of(WC_Order $order): int
    {
        return (int) str_replace('.', '', $this->amount_of($order)) * 10_000;
    }

    private function base_url(): string
    {
        return rtrim((string) $this->get_option('base_url'), '/');
    }

    private function quittance(float $timeout = 20.0, int $retries = 2): Quittance
    {
        return new Quittance((string) $this->get_option('secret_key'), $this->base_url(), $timeout, $retries);
    }
}

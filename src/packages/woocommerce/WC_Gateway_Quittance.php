<?php

declare(strict_types=1);

use Quittance\{Quittance, QuittanceException, Webhook, WebhookVerificationException};

/** Sends the buyer to the service's checkout; the signed webhook alone marks an order paid. */
class WC_Gateway_Quittance extends WC_Payment_Gateway
{
    /** A token opens a payment for five minutes; one that is nearly over is replaced. */
    private const TOKEN_SECONDS = 240;
    private const CURRENCY = 'USD';
    /** As WooCommerce has them; a shop may filter them. */
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
            'secret_key' => ['title' => 'Secret key', 'type' => 'password', 'description' => 'sk_test_… takes test money alone.'],
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
            // What another request has kept of it since this one began.
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
        [$status, $said] = $this->receive((string) file_get_contents('php://input'), getallheaders());
        status_header($status);
        echo $said;
        exit;
    }

    /**
     * Any answer but 2xx is tried again by the service, and then raises an alert there.
     *
     * @param array<string, string> $headers
     * @return array{int, string} status and body
     */
    public function receive(string $body, array $headers): array
    {
        try {
            ['event' => $event, 'order' => $named] = Webhook::verify($body, $headers, $this->get_option('signing_secret'));
        } catch (WebhookVerificationException $error) {
            return [400, $error->getMessage()];
        }
        if ($event['type'] !== 'payment.settled') {
            return [200, 'nothing to do'];
        }
        parse_str((string) parse_url($named['intentUrl'] ?? '', PHP_URL_QUERY), $query);
        $key = $query['key'] ?? '';
        // A payment link's page has none: orders that were imported may have an empty one.
        $id = is_string($key) && $key !== '' ? (int) wc_get_order_id_by_order_key($key) : 0;
        if ($id === 0) {
            return [404, 'no such order'];
        }
        $lock = Quittance_Order_Lock::take($id);
        if ($lock === null) {
            return [503, 'another delivery for this order is being handled'];
        }
        try {
            return $this->pay($id, $event, $named['paymentId'] ?? '');
        } finally {
            $lock->release();
        }
    }

    /**
     * One process at a time comes here for an order, and reads it then: of two deliveries of one event at the same
     * moment, the second one finds the order paid.
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
        // Also of an order that was cancelled or refunded since: an event that comes again ships nothing.
        $noted = $this->noted($order);
        if ($order->get_transaction_id() === $transaction || in_array($transaction, $noted, true)) {
            return [200, 'paid already'];
        }
        $takes_payment = $order->has_status(apply_filters('woocommerce_valid_order_statuses_for_payment_complete', self::UNPAID, $order));
        if ($order->is_paid() || $order->has_status('refunded') || (!$takes_payment && $order->get_date_paid() !== null)) {
            $order->add_order_note("Paid once more, by transaction $transaction. Refund that one at your Quittance service: what is refunded here is the order's own payment.");
            $this->keep_noted($order, [...$noted, $transaction]);
            return [200, 'paid already'];
        }
        $paid = array_sum(array_map(fn (array $change): int => (int) $change['amountAtomic'], $event['tokenChanges']));
        $order->update_meta_data('_quittance_payment_id', $payment);
        $order->save();
        if ($paid !== $this->atomic_of($order) || $order->get_currency() !== self::CURRENCY) {
            $order->update_status('on-hold', "Transaction $transaction paid another amount than the order's present total.");
            $this->keep_noted($order, [...$noted, $transaction]);
            return [200, 'on hold'];
        }
        try {
            $returned = $this->is_given_back($payment);
        } catch (QuittanceException $error) {
            // The service sends the event again.
            return [503, $error->errorCode];
        }
        if ($returned) {
            $note = "Transaction $transaction paid the order, and was given back before this event came. Nothing is shipped for it.";
            $order->has_status('cancelled') ? $order->add_order_note($note) : $order->update_status('on-hold', $note);
            $this->keep_noted($order, [...$noted, $transaction]);
            return [200, 'given back'];
        }
        if (!$takes_payment) {
            $order->update_status('on-hold', "Transaction $transaction paid the order in a status in which WooCommerce completes no payment: {$order->get_status()}. Nothing is shipped for it.");
            $this->keep_noted($order, [...$noted, $transaction]);
            return [200, 'on hold'];
        }
        $order->payment_complete($transaction);
        // It logs what failed in it, and goes on. The service sends the event again.
        return wc_get_order($id)->get_transaction_id() === $transaction
            ? [200, 'paid']
            : [503, 'WooCommerce has not completed the payment'];
    }

    /**
     * The merchant's own wallet sends a refund, so the first call asks for it; once the chain has proven the
     * transfer, the same call is done.
     *
     * @return true|WP_Error
     */
    public function process_refund($order_id, $amount = null, $reason = '')
    {
        $lock = Quittance_Order_Lock::take((int) $order_id);
        if ($lock === null) {
            return new WP_Error('quittance', 'Another refund or payment of this order is being handled. Try again in a moment.');
        }
        try {
            return $this->refund((int) $order_id, (string) $amount, (string) $reason);
        } finally {
            $lock->release();
        }
    }

    /** Of two at the same moment, the second one sees what the first one has asked for. */
    private function refund(int $id, string $amount, string $reason): true|WP_Error
    {
        $order = wc_get_order($id);
        // WooCommerce has read the order before this request had it for itself.
        $order->read_meta_data(true);
        $payment = (string) $order->get_meta('_quittance_payment_id');
        $usd = Quittance_Order_Refunds::usd($amount);
        if ($payment === '' || (float) $usd <= 0) {
            return new WP_Error('quittance', 'There is no payment to refund, or no amount.');
        }
        try {
            $quittance = $this->quittance();
            $refunds = new Quittance_Order_Refunds($order, $payment, $usd);
            $asked = $refunds->asked();
            $refund = $asked === null ? null : Quittance_Order_Refunds::at($quittance, $asked);
            if ($refund !== null && in_array($refund['status'], ['failed', 'cancelled'], true)) {
                $refunds->done($asked);
                $asked = $refund = null;
            }
            if ($asked === null && $refunds->tell_others($this->refunds_of($payment, $quittance))) {
                return new WP_Error('quittance', "Your Quittance dashboard has a refund of $usd USDC of this payment that was not asked for"
                    . ' here. If it is this one, record it with "Refund manually"; for another one, refund here once more.');
            }
            $refund ??= $quittance->refunds->create(
                id: $asked ?? $refunds->ask(),
                paymentId: $payment,
                amount: $usd,
                reason: $reason ?: null,
            )['refund'];
            if ($refund['status'] !== 'proven') {
                return $this->to_send($refund);
            }
            // None is asked for as long as one that was sent may count.
            if (isset($refund['droppedAt'])) {
                return new WP_Error('quittance', "The chain no longer shows the transfer of $usd USDC. Wait until it does, or cancel"
                    . ' that refund in your Quittance dashboard, and refund here once more.');
            }
            $refunds->done($refund['id']);
            return true;
        } catch (QuittanceException $error) {
            return new WP_Error('quittance', $error->getMessage());
        }
    }

    /** Whether the merchant gives the payment back by hand, or some of it, or has. */
    private function is_given_back(string $payment): bool
    {
        // Asked once: the order is kept meanwhile, and the service sends the event again.
        foreach ($this->refunds_of($payment, $this->quittance(10.0, 0)) as $refund) {
            if ($refund['status'] === 'pending' || $refund['status'] === 'proven') {
                return true;
            }
        }
        return false;
    }

    /**
     * All of them, newest first, however many pages they fill.
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
     * Transactions that a note tells of: one that comes again is told once.
     *
     * @return list<string>
     */
    private function noted(WC_Order $order): array
    {
        return array_values(array_filter(explode(' ', (string) $order->get_meta('_quittance_noted'))));
    }

    /** @param list<string> $transactions */
    private function keep_noted(WC_Order $order, array $transactions): void
    {
        $order->update_meta_data('_quittance_noted', implode(' ', $transactions));
        $order->save();
    }

    /** @param array<string, mixed> $refund */
    private function to_send(array $refund): WP_Error
    {
        return new WP_Error('quittance', "Send {$refund['amount']} USDC from your receiving address to {$refund['recipient']}"
            . ' (your Quittance dashboard shows the refund with its QR code), then refund here once more.');
    }

    /** Null where the order is paid already. One payment for each order and amount, however often it is tried, unless it was given back. */
    private function token_of(WC_Order $order): ?string
    {
        $amount = $this->amount_of($order);
        $kept = json_decode((string) $order->get_meta('_quittance_intent'), true);
        // A copy of an order, as a renewal, has what was kept of the first one. A release before kept no id.
        if (is_array($kept) && ($kept['order'] ?? $order->get_id()) === $order->get_id()) {
            $payment = $this->payment_of($kept['paymentId']);
            $status = $payment['status'] ?? null;
            $is_same = $kept['amount'] === $amount;
            // Of another amount until its event has come, which puts the order on hold.
            $handled = [...$this->noted($order), $order->get_transaction_id()];
            $counts = $status === 'settled' && ($is_same || !in_array($payment['reportedTransactionId'], $handled, true));
            if ($counts && !$this->is_given_back($kept['paymentId'])) {
                return null;
            }
            if ($is_same && ($status === 'pending' || ($status === null && time() - $kept['at'] < self::TOKEN_SECONDS))) {
                return $kept['token'];
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
     * Null for a payment that nobody has opened yet.
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

    /** Of the amount as it is asked for: PHP rounds a total of 1.005 in more than one way. */
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

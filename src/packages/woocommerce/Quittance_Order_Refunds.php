<?php

declare(strict_types=1);

use Quittance\{Quittance, QuittanceException, Transport};

/**
 * Maps a refund of the order to its Quittance refund: the refund that the shop requested under its own id,
 * not another refund of the same amount.
 */
final class Quittance_Order_Refunds
{
    /** Quittance refunds that no later request may use: completed here, recorded by hand, or reported. */
    private const HANDLED = '_quittance_refunds';
    /** The ids of requested refunds that are not completed, by payment and amount. */
    private const REQUESTED = '_quittance_refunds_asked';

    public function __construct(private WC_Order $order, private string $payment, private string $amount)
    {
    }

    /**
     * A person recorded a refund in WooCommerce. It completes the requested refund of this amount.
     *
     * @param array<string, mixed> $refund
     */
    public static function recorded(mixed $id, array $refund): void
    {
        $number = (int) ($refund['order_id'] ?? 0);
        if (!empty($refund['refund_payment']) || !wc_get_order($number) instanceof WC_Order) {
            return;
        }
        // The refund is recorded even if another process holds the order's lock.
        $lock = Quittance_Order_Lock::take($number);
        try {
            $order = wc_get_order($number);
            $order->read_meta_data(true);
            $refunds = new self($order, (string) $order->get_meta('_quittance_payment_id'), self::usd($refund['amount'] ?? 0));
            $requested = $refunds->requested();
            if ($requested !== null) {
                $refunds->done($requested);
                $order->add_order_note("Recorded by hand: refund $requested of $refunds->amount USDC, which was requested at your"
                    . ' Quittance service. If it is still pending there and you returned the money in another way, cancel it there.');
            }
        } finally {
            $lock?->release();
        }
    }

    public static function usd(mixed $amount): string
    {
        return number_format((float) $amount, 2, '.', '');
    }

    public function requested(): ?string
    {
        return $this->ids()["$this->payment $this->amount"] ?? null;
    }

    /** Stored before the service is called, so that a retry requests the same refund. */
    public function new_request(): string
    {
        $id = Transport::uuid();
        $this->store([...$this->ids(), "$this->payment $this->amount" => $id], []);
        return $id;
    }

    public function done(string $id): void
    {
        $this->store(array_diff($this->ids(), [$id]), [$id]);
    }

    /**
     * Reports, only once, refunds of the same amount that were not requested here.
     *
     * @param iterable<array<string, mixed>> $refunds of the payment
     */
    public function report_others(iterable $refunds): bool
    {
        $others = [];
        foreach ($refunds as ['id' => $id, 'amount' => $amount, 'status' => $status]) {
            if ($amount === $this->amount && in_array($status, ['pending', 'proven'], true) && !in_array($id, $this->handled(), true)) {
                $others[] = $id;
            }
        }
        $this->store($this->ids(), $others);
        return $others !== [];
    }

    /**
     * Null if the refund does not exist.
     *
     * @return array<string, mixed>|null
     */
    public static function at(Quittance $quittance, string $id): ?array
    {
        try {
            return $quittance->refunds->retrieve($id)['refund'];
        } catch (QuittanceException $error) {
            if ($error->errorCode === 'REFUND_NOT_FOUND') {
                return null;
            }
            throw $error;
        }
    }

    /** @return array<string, string> */
    private function ids(): array
    {
        $ids = json_decode((string) $this->order->get_meta(self::REQUESTED), true);
        return is_array($ids) ? $ids : [];
    }

    /** @return list<string> */
    private function handled(): array
    {
        return array_values(array_filter(explode(' ', (string) $this->order->get_meta(self::HANDLED))));
    }

    /**
     * @param array<string, string> $ids
     * @param list<string> $handled
     */
    private function store(array $ids, array $handled): void
    {
        $this->order->update_meta_data(self::REQUESTED, json_encode($ids, JSON_THROW_ON_ERROR));
        $this->order->update_meta_data(self::HANDLED, implode(' ', [...$this->handled(), ...$handled]));
        $this->order->save();
    }
}

<?php

declare(strict_types=1);

use Quittance\{Quittance, QuittanceException, Transport};

/**
 * Which refund at the service a refund of the order is: the one that the shop has asked for under an id of its own, and
 * no other of the same amount.
 */
final class Quittance_Order_Refunds
{
    /** Refunds at the service that are no answer to what is asked next: done here, recorded by hand, or told of. */
    private const KNOWN = '_quittance_refunds';
    /** The id under which a refund was asked for and is not done yet, by payment and amount. */
    private const ASKED = '_quittance_refunds_asked';

    public function __construct(private WC_Order $order, private string $payment, private string $amount)
    {
    }

    /**
     * WooCommerce has recorded a refund that a person has made: it is the one of this amount that was asked for.
     *
     * @param array<string, mixed> $refund
     */
    public static function recorded(mixed $id, array $refund): void
    {
        $number = (int) ($refund['order_id'] ?? 0);
        if (!empty($refund['refund_payment']) || !wc_get_order($number) instanceof WC_Order) {
            return;
        }
        // Where another process keeps the order, it is recorded all the same.
        $lock = Quittance_Order_Lock::take($number);
        try {
            $order = wc_get_order($number);
            $order->read_meta_data(true);
            $refunds = new self($order, (string) $order->get_meta('_quittance_payment_id'), self::usd($refund['amount'] ?? 0));
            $asked = $refunds->asked();
            if ($asked !== null) {
                $refunds->done($asked);
                $order->add_order_note("Recorded by hand: refund $asked of $refunds->amount USDC, which was asked for at your"
                    . ' Quittance service. If it still waits there and you gave the money back in another way, cancel it there.');
            }
        } finally {
            $lock?->release();
        }
    }

    public static function usd(mixed $amount): string
    {
        return number_format((float) $amount, 2, '.', '');
    }

    public function asked(): ?string
    {
        return $this->ids()["$this->payment $this->amount"] ?? null;
    }

    /** Kept before the service is asked: whose answer is lost asks for the same refund again. */
    public function ask(): string
    {
        $id = Transport::uuid();
        $this->keep([...$this->ids(), "$this->payment $this->amount" => $id], []);
        return $id;
    }

    public function done(string $id): void
    {
        $this->keep(array_diff($this->ids(), [$id]), [$id]);
    }

    /**
     * Those of the same amount that were not asked for here, told of once.
     *
     * @param iterable<array<string, mixed>> $refunds of the payment
     */
    public function tell_others(iterable $refunds): bool
    {
        $others = [];
        foreach ($refunds as ['id' => $id, 'amount' => $amount, 'status' => $status]) {
            if ($amount === $this->amount && in_array($status, ['pending', 'proven'], true) && !in_array($id, $this->known(), true)) {
                $others[] = $id;
            }
        }
        $this->keep($this->ids(), $others);
        return $others !== [];
    }

    /**
     * Null where it is not there.
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
        $ids = json_decode((string) $this->order->get_meta(self::ASKED), true);
        return is_array($ids) ? $ids : [];
    }

    /** @return list<string> */
    private function known(): array
    {
        return array_values(array_filter(explode(' ', (string) $this->order->get_meta(self::KNOWN))));
    }

    /**
     * @param array<string, string> $ids
     * @param list<string> $known
     */
    private function keep(array $ids, array $known): void
    {
        $this->order->update_meta_data(self::ASKED, json_encode($ids, JSON_THROW_ON_ERROR));
        $this->order->update_meta_data(self::KNOWN, implode(' ', [...$this->known(), ...$known]));
        $this->order->save();
    }
}

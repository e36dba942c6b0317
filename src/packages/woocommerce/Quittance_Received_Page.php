<?php

declare(strict_types=1);

/** The page of a received order. Buyers return here even if they have not paid, or not in time. */
final class Quittance_Received_Page
{
    public static function text(string $text, mixed $order): string
    {
        if (!$order instanceof WC_Order || $order->get_payment_method() !== 'quittance' || !$order->needs_payment()) {
            return $text;
        }
        // A buyer who has paid and arrives before the webhook is sent back here.
        $url = esc_url($order->get_checkout_payment_url());
        return "We have not seen your payment yet. If you have not paid, <a href=\"$url\">pay now</a>.";
    }
}

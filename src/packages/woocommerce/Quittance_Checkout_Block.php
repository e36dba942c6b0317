<?php

declare(strict_types=1);

use Automattic\WooCommerce\Blocks\Payments\Integrations\AbstractPaymentMethodType;

/** The gateway in WooCommerce's checkout block, which offers only gateways that are registered with it. */
final class Quittance_Checkout_Block extends AbstractPaymentMethodType
{
    private const SCRIPT = 'quittance-checkout-block';

    protected $name = 'quittance';

    public function initialize()
    {
        $this->settings = get_option('woocommerce_quittance_settings', []);
    }

    public function is_active()
    {
        return $this->gateway()?->is_available() ?? false;
    }

    public function get_payment_method_script_handles()
    {
        $script = 'checkout-block.js';
        $needs = ['wc-blocks-registry', 'wc-settings', 'wp-element', 'wp-html-entities'];
        wp_register_script(self::SCRIPT, plugins_url($script, __FILE__), $needs, md5_file(__DIR__ . "/$script"), true);
        return [self::SCRIPT];
    }

    public function get_payment_method_data()
    {
        return ['title' => $this->gateway()?->title ?? ''];
    }

    private function gateway(): ?WC_Gateway_Quittance
    {
        $gateway = WC()->payment_gateways()->payment_gateways()[$this->name] ?? null;
        return $gateway instanceof WC_Gateway_Quittance ? $gateway : null;
    }
}

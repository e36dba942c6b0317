<?php

/**
 * Plugin Name: Quittance for WooCommerce
 * Description: Takes payments in USDC through a Quittance service.
 * Version: 0.1.0
 * Requires PHP: 8.2
 * Requires Plugins: woocommerce
 * License: MIT
 */

declare(strict_types=1);

defined('ABSPATH') || exit;

spl_autoload_register(static function (string $class): void {
    if (preg_match('/^Quittance\\\\(\w+)$/D', $class, $match) === 1) {
        $file = __DIR__ . "/client/$match[1].php";
        if (is_file($file)) {
            require $file;
        }
    }
});

// Orders are read and written only through WooCommerce, wherever it stores them.
add_action('before_woocommerce_init', static function (): void {
    $features = 'Automattic\WooCommerce\Utilities\FeaturesUtil';
    if (class_exists($features)) {
        $features::declare_compatibility('custom_order_tables', __FILE__, true);
        $features::declare_compatibility('cart_checkout_blocks', __FILE__, true);
    }
});

add_action('woocommerce_blocks_loaded', static function (): void {
    if (!class_exists('Automattic\WooCommerce\Blocks\Payments\Integrations\AbstractPaymentMethodType')) {
        return;
    }
    add_action('woocommerce_blocks_payment_method_type_registration', static function (object $registry): void {
        require_once __DIR__ . '/Quittance_Checkout_Block.php';
        $registry->register(new Quittance_Checkout_Block());
    });
});

add_action('plugins_loaded', static function (): void {
    if (!class_exists('WC_Payment_Gateway')) {
        return;
    }
    require_once __DIR__ . '/Quittance_Order_Lock.php';
    require_once __DIR__ . '/Quittance_Order_Refunds.php';
    require_once __DIR__ . '/WC_Gateway_Quittance.php';
    require_once __DIR__ . '/Quittance_Received_Page.php';
    add_filter('woocommerce_payment_gateways', static fn (array $all): array => [...$all, 'WC_Gateway_Quittance']);
    add_action('woocommerce_refund_created', [Quittance_Order_Refunds::class, 'recorded'], 10, 2);
    add_filter('woocommerce_thankyou_order_received_text', [Quittance_Received_Page::class, 'text'], 10, 2);
});

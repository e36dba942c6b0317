SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE FUNCTION public.audit_entries_stay() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    BEGIN
      RAISE EXCEPTION 'Entries of the audit log are neither changed nor removed'
        USING ERRCODE = 'restrict_violation';
    END $$;
CREATE FUNCTION public.complete_claimed_transfer() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    BEGIN
      IF NEW.payer IS NULL THEN
        SELECT r.payer_address INTO NEW.payer FROM payment_reports r
        WHERE r.payment_id = NEW.payment_id AND r.transaction_id = NEW.transaction_id
        ORDER BY r.reported_at DESC LIMIT 1;
        SELECT p.receiver, p.amount INTO NEW.receiver, NEW.amount FROM payments p WHERE p.id = NEW.payment_id;
        SELECT count(*) INTO NEW.ordinal FROM claimed_transfers c
        WHERE c.chain_id = NEW.chain_id AND c.transaction_id = NEW.transaction_id AND c.payer = NEW.payer
          AND c.receiver = NEW.receiver AND c.amount = NEW.amount AND c.log_position <> NEW.log_position;
      END IF;
      RETURN NEW;
    END $$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.agent_payees (
    agent_id uuid NOT NULL,
    host text NOT NULL,
    pay_to bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT agent_payees_host_check CHECK ((length(host) <= 300)),
    CONSTRAINT agent_payees_pay_to_check CHECK ((length(pay_to) = 20))
);
CREATE TABLE public.agent_payments (
    id uuid NOT NULL,
    agent_id uuid NOT NULL,
    request_id text NOT NULL,
    request_hash bytea NOT NULL,
    status text NOT NULL,
    x402_version integer NOT NULL,
    resource text NOT NULL,
    requirements text NOT NULL,
    pay_to bytea NOT NULL,
    amount numeric(20,0) NOT NULL,
    valid_after bigint NOT NULL,
    valid_before bigint NOT NULL,
    nonce bytea NOT NULL,
    transaction_id bytea,
    created_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    next_look_at timestamp with time zone,
    payment_id uuid,
    CONSTRAINT agent_payments_amount_check CHECK ((amount > (0)::numeric)),
    CONSTRAINT agent_payments_nonce_check CHECK ((length(nonce) = 32)),
    CONSTRAINT agent_payments_pay_to_check CHECK ((length(pay_to) = 20)),
    CONSTRAINT agent_payments_request_hash_check CHECK ((length(request_hash) = 32)),
    CONSTRAINT agent_payments_request_id_check CHECK (((length(request_id) >= 1) AND (length(request_id) <= 128))),
    CONSTRAINT agent_payments_resource_check CHECK ((length(resource) <= 2048)),
    CONSTRAINT agent_payments_status_check CHECK ((status = ANY (ARRAY['reserved'::text, 'used'::text, 'expired'::text, 'released'::text]))),
    CONSTRAINT agent_payments_transaction_id_check CHECK ((length(transaction_id) = 32)),
    CONSTRAINT agent_payments_x402_version_check CHECK ((x402_version = ANY (ARRAY[1, 2])))
);
CREATE TABLE public.agents (
    id uuid NOT NULL,
    merchant_id uuid NOT NULL,
    env text NOT NULL,
    name text NOT NULL,
    wallet_index integer NOT NULL,
    address bytea,
    key_id uuid NOT NULL,
    cap_per_payment numeric(20,0) NOT NULL,
    cap_per_day numeric(20,0) NOT NULL,
    allowed_hosts text[],
    allowed_payees text[],
    status text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT agents_address_check CHECK ((length(address) = 20)),
    CONSTRAINT agents_cap_per_day_check CHECK ((cap_per_day > (0)::numeric)),
    CONSTRAINT agents_cap_per_payment_check CHECK ((cap_per_payment > (0)::numeric)),
    CONSTRAINT agents_env_check CHECK ((env = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT agents_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT agents_status_check CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text, 'revoked'::text])))
);
ALTER TABLE public.agents ALTER COLUMN wallet_index ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.agents_wallet_index_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.alerts (
    id uuid NOT NULL,
    merchant_id uuid,
    env text,
    kind text NOT NULL,
    subject text NOT NULL,
    message text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    acknowledged_at timestamp with time zone,
    user_id uuid,
    CONSTRAINT alerts_env_check CHECK ((env = ANY (ARRAY['test'::text, 'live'::text])))
);
CREATE TABLE public.api_keys (
    id uuid NOT NULL,
    merchant_id uuid NOT NULL,
    kind text NOT NULL,
    env text NOT NULL,
    permission text NOT NULL,
    hash bytea NOT NULL,
    prefix text NOT NULL,
    last_four text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    CONSTRAINT api_keys_env_check CHECK ((env = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT api_keys_hash_check CHECK ((length(hash) = 32)),
    CONSTRAINT api_keys_kind_check CHECK ((kind = ANY (ARRAY['secret'::text, 'publishable'::text, 'agent'::text]))),
    CONSTRAINT api_keys_last_four_check CHECK ((length(last_four) = 4)),
    CONSTRAINT api_keys_permission_check CHECK ((permission = ANY (ARRAY['manage'::text, 'read'::text])))
);
CREATE TABLE public.audit_entries (
    "position" bigint NOT NULL,
    merchant_id uuid,
    env text,
    at timestamp with time zone NOT NULL,
    actor_id uuid,
    actor text NOT NULL,
    action text NOT NULL,
    summary text NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT audit_entries_env_check CHECK ((env = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT audit_entries_hash_check CHECK ((length(hash) = 32))
);
CREATE TABLE public.authorization_nonces (
    nonce bytea NOT NULL,
    payment_id uuid NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    CONSTRAINT authorization_nonces_nonce_check CHECK ((length(nonce) = 32))
);
CREATE TABLE public.chain_cursors (
    chain_id integer NOT NULL,
    block_number bigint NOT NULL,
    block_hash bytea NOT NULL,
    block_time timestamp with time zone NOT NULL,
    lease_id uuid,
    leased_until timestamp with time zone,
    CONSTRAINT chain_cursors_block_hash_check CHECK ((length(block_hash) = 32))
);
CREATE TABLE public.claimed_transfers (
    chain_id integer NOT NULL,
    transaction_id bytea NOT NULL,
    log_position integer NOT NULL,
    payment_id uuid NOT NULL,
    block_number bigint NOT NULL,
    block_hash bytea NOT NULL,
    watch_at timestamp with time zone,
    dropped_at timestamp with time zone,
    payer bytea NOT NULL,
    receiver bytea NOT NULL,
    amount numeric(20,0) NOT NULL,
    ordinal integer NOT NULL,
    CONSTRAINT claimed_transfers_block_hash_check CHECK ((length(block_hash) = 32)),
    CONSTRAINT claimed_transfers_log_position_check CHECK ((log_position >= 0)),
    CONSTRAINT claimed_transfers_ordinal_check CHECK ((ordinal >= 0)),
    CONSTRAINT claimed_transfers_payer_check CHECK ((length(payer) = 20)),
    CONSTRAINT claimed_transfers_receiver_check CHECK ((length(receiver) = 20)),
    CONSTRAINT claimed_transfers_transaction_id_check CHECK ((length(transaction_id) = 32))
);
CREATE TABLE public.effect_sql_migrations (
    migration_id integer NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    name character varying(255) NOT NULL
);
CREATE TABLE public.faucet_grants (
    id uuid NOT NULL,
    merchant_id uuid NOT NULL,
    recipient bytea NOT NULL,
    client_address text NOT NULL,
    status text NOT NULL,
    usdc_atomic numeric(20,0) NOT NULL,
    gas_wei numeric(30,0) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT faucet_grants_recipient_check CHECK ((length(recipient) = 20)),
    CONSTRAINT faucet_grants_status_check CHECK ((status = ANY (ARRAY['reserved'::text, 'sent'::text, 'gas_only'::text, 'returned'::text])))
);
CREATE TABLE public.faucet_transactions (
    wallet bytea NOT NULL,
    nonce bigint NOT NULL,
    grant_id uuid NOT NULL,
    asset text NOT NULL,
    raw bytea NOT NULL,
    transaction_id bytea NOT NULL,
    earlier_ids bytea[] DEFAULT '{}'::bytea[] NOT NULL,
    outcome text,
    created_at timestamp with time zone NOT NULL,
    mined_at timestamp with time zone,
    CONSTRAINT faucet_transactions_asset_check CHECK ((asset = ANY (ARRAY['usdc'::text, 'gas'::text, 'filler'::text]))),
    CONSTRAINT faucet_transactions_outcome_check CHECK ((outcome = ANY (ARRAY['moved'::text, 'reverted'::text, 'lost'::text]))),
    CONSTRAINT faucet_transactions_transaction_id_check CHECK ((length(transaction_id) = 32)),
    CONSTRAINT faucet_transactions_wallet_check CHECK ((length(wallet) = 20))
);
CREATE TABLE public.incoming_transfers (
    id uuid NOT NULL,
    chain_id integer NOT NULL,
    transaction_id bytea NOT NULL,
    payer bytea NOT NULL,
    receiver bytea NOT NULL,
    amount numeric(78,0) NOT NULL,
    ordinal integer NOT NULL,
    merchant_id uuid NOT NULL,
    env text NOT NULL,
    block_number bigint NOT NULL,
    block_hash bytea NOT NULL,
    block_time timestamp with time zone NOT NULL,
    kind text,
    payment_id uuid,
    match_at timestamp with time zone,
    alerted_at timestamp with time zone,
    dropped_at timestamp with time zone,
    handled_at timestamp with time zone,
    handled_by text,
    attached_to uuid,
    note text,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT incoming_transfers_amount_check CHECK ((amount > (0)::numeric)),
    CONSTRAINT incoming_transfers_block_hash_check CHECK ((length(block_hash) = 32)),
    CONSTRAINT incoming_transfers_check CHECK (((handled_at IS NULL) = (handled_by IS NULL))),
    CONSTRAINT incoming_transfers_check1 CHECK (((attached_to IS NULL) OR (handled_at IS NOT NULL))),
    CONSTRAINT incoming_transfers_env_check CHECK ((env = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT incoming_transfers_kind_check CHECK ((kind = ANY (ARRAY['late'::text, 'short'::text, 'over'::text, 'second'::text, 'unknown'::text]))),
    CONSTRAINT incoming_transfers_note_check CHECK ((length(note) <= 2000)),
    CONSTRAINT incoming_transfers_ordinal_check CHECK ((ordinal >= 0)),
    CONSTRAINT incoming_transfers_payer_check CHECK ((length(payer) = 20)),
    CONSTRAINT incoming_transfers_receiver_check CHECK ((length(receiver) = 20)),
    CONSTRAINT incoming_transfers_transaction_id_check CHECK ((length(transaction_id) = 32))
);
CREATE TABLE public.known_browsers (
    hash bytea NOT NULL,
    user_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT known_browsers_hash_check CHECK ((length(hash) = 32))
);
CREATE TABLE public.mails (
    id uuid NOT NULL,
    recipient text NOT NULL,
    subject text NOT NULL,
    body text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    due_at timestamp with time zone,
    sent_at timestamp with time zone,
    error text
);
CREATE TABLE public.merchant_faces (
    merchant_id uuid NOT NULL,
    logo bytea,
    accent_color text,
    support text,
    CONSTRAINT merchant_faces_accent_color_check CHECK ((accent_color ~ '^#[0-9a-f]{6}$'::text)),
    CONSTRAINT merchant_faces_logo_check CHECK ((length(logo) <= 65536)),
    CONSTRAINT merchant_faces_support_check CHECK ((length(support) <= 200))
);
CREATE TABLE public.merchant_members (
    merchant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.merchant_receivers (
    env text NOT NULL,
    address bytea NOT NULL,
    merchant_id uuid NOT NULL,
    since timestamp with time zone NOT NULL,
    watched_since timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT merchant_receivers_address_check CHECK ((length(address) = 20)),
    CONSTRAINT merchant_receivers_env_check CHECK ((env = ANY (ARRAY['test'::text, 'live'::text])))
);
CREATE TABLE public.merchants (
    id uuid NOT NULL,
    name text NOT NULL,
    logo_url text,
    receiver_test bytea NOT NULL,
    receiver_live bytea NOT NULL,
    identity_audience text,
    created_at timestamp with time zone NOT NULL,
    bound_tokens_only boolean DEFAULT false NOT NULL,
    token_lifetime_seconds integer DEFAULT 86400 NOT NULL,
    moved_receivers text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT merchants_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT merchants_receiver_live_check CHECK ((length(receiver_live) = 20)),
    CONSTRAINT merchants_receiver_test_check CHECK ((length(receiver_test) = 20)),
    CONSTRAINT merchants_token_lifetime_seconds_check CHECK (((token_lifetime_seconds >= 60) AND (token_lifetime_seconds <= 31536000)))
);
CREATE TABLE public.one_time_links (
    hash bytea NOT NULL,
    email text NOT NULL,
    merchant_id uuid,
    reset_password boolean NOT NULL,
    operator boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    invited_by uuid,
    failures integer DEFAULT 0 NOT NULL,
    CONSTRAINT one_time_links_hash_check CHECK ((length(hash) = 32))
);
CREATE TABLE public.payment_attempts (
    id uuid NOT NULL,
    payment_id uuid NOT NULL,
    payer_address bytea NOT NULL,
    method text NOT NULL,
    block_number bigint NOT NULL,
    nonce bigint,
    announced_at timestamp with time zone NOT NULL,
    closed_at timestamp with time zone,
    closed_reason text,
    CONSTRAINT payment_attempts_block_number_check CHECK ((block_number >= 0)),
    CONSTRAINT payment_attempts_check CHECK (((closed_at IS NULL) = (closed_reason IS NULL))),
    CONSTRAINT payment_attempts_closed_reason_check CHECK ((closed_reason = ANY (ARRAY['declined'::text, 'nonce_used'::text, 'expired'::text]))),
    CONSTRAINT payment_attempts_method_check CHECK ((method = ANY (ARRAY['transfer'::text, 'authorization'::text]))),
    CONSTRAINT payment_attempts_nonce_check CHECK ((nonce >= 0)),
    CONSTRAINT payment_attempts_payer_address_check CHECK ((length(payer_address) = 20))
);
CREATE TABLE public.payment_links (
    id text NOT NULL,
    merchant_id uuid NOT NULL,
    env text NOT NULL,
    publishable_key text NOT NULL,
    description text NOT NULL,
    amount numeric(20,0),
    "least" numeric(20,0),
    most numeric(20,0),
    once boolean NOT NULL,
    payment_id uuid,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    closed_at timestamp with time zone,
    CONSTRAINT payment_links_amount_check CHECK ((amount > (0)::numeric)),
    CONSTRAINT payment_links_check CHECK ((most >= "least")),
    CONSTRAINT payment_links_check1 CHECK (((amount IS NULL) = (("least" IS NOT NULL) AND (most IS NOT NULL)))),
    CONSTRAINT payment_links_description_check CHECK ((length(description) <= 500)),
    CONSTRAINT payment_links_env_check CHECK ((env = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT payment_links_id_check CHECK ((length(id) >= 22)),
    CONSTRAINT payment_links_least_check CHECK (("least" > (0)::numeric))
);
CREATE TABLE public.payment_reports (
    payment_id uuid NOT NULL,
    evidence bytea NOT NULL,
    payer_address bytea NOT NULL,
    transaction_id bytea NOT NULL,
    token_changes jsonb NOT NULL,
    reported_at timestamp with time zone NOT NULL,
    checks integer DEFAULT 0 NOT NULL,
    next_check_at timestamp with time zone,
    outcome text,
    payer_type text DEFAULT 'human'::text NOT NULL,
    CONSTRAINT payment_reports_evidence_check CHECK ((length(evidence) = 32)),
    CONSTRAINT payment_reports_payer_address_check CHECK ((length(payer_address) = 20)),
    CONSTRAINT payment_reports_payer_type_check CHECK ((payer_type = ANY (ARRAY['human'::text, 'agent'::text]))),
    CONSTRAINT payment_reports_transaction_id_check CHECK ((length(transaction_id) = 32))
);
CREATE TABLE public.payment_verdicts (
    payment_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    evidence bytea NOT NULL,
    reported_at timestamp with time zone NOT NULL,
    transaction_id bytea NOT NULL,
    payer_address bytea NOT NULL,
    verdict text NOT NULL,
    expected text,
    actual text,
    CONSTRAINT payment_verdicts_evidence_check CHECK ((length(evidence) = 32)),
    CONSTRAINT payment_verdicts_payer_address_check CHECK ((length(payer_address) = 20)),
    CONSTRAINT payment_verdicts_transaction_id_check CHECK ((length(transaction_id) = 32))
);
CREATE TABLE public.payments (
    id uuid NOT NULL,
    merchant_id uuid NOT NULL,
    env text NOT NULL,
    status text NOT NULL,
    amount numeric(20,0) NOT NULL,
    ref_code text NOT NULL,
    intent_url text NOT NULL,
    receiver bytea NOT NULL,
    payer_type text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    reported_at timestamp with time zone,
    transaction_id bytea,
    payer_address bytea,
    token_changes jsonb,
    settled_at timestamp with time zone,
    failed_at timestamp with time zone,
    failure_reason text,
    opened_block bigint,
    failed_earlier_at timestamp with time zone,
    CONSTRAINT payments_amount_check CHECK ((amount > (0)::numeric)),
    CONSTRAINT payments_check CHECK (
CASE status
    WHEN 'pending'::text THEN ((settled_at IS NULL) AND (failed_at IS NULL) AND (failure_reason IS NULL))
    WHEN 'settled'::text THEN ((settled_at IS NOT NULL) AND (reported_at IS NOT NULL) AND (transaction_id IS NOT NULL) AND (payer_address IS NOT NULL) AND (token_changes IS NOT NULL) AND (failed_at IS NULL) AND (failure_reason IS NULL))
    ELSE ((failed_at IS NOT NULL) AND (failure_reason IS NOT NULL) AND (settled_at IS NULL))
END),
    CONSTRAINT payments_env_check CHECK ((env = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT payments_failure_reason_check CHECK ((failure_reason = ANY (ARRAY['expired'::text, 'unverified'::text]))),
    CONSTRAINT payments_payer_address_check CHECK ((length(payer_address) = 20)),
    CONSTRAINT payments_payer_type_check CHECK ((payer_type = ANY (ARRAY['human'::text, 'agent'::text]))),
    CONSTRAINT payments_receiver_check CHECK ((length(receiver) = 20)),
    CONSTRAINT payments_ref_code_check CHECK ((ref_code ~ '^PAY-[A-Z0-9]{8}$'::text)),
    CONSTRAINT payments_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'settled'::text, 'failed'::text]))),
    CONSTRAINT payments_transaction_id_check CHECK ((length(transaction_id) = 32))
);
CREATE TABLE public.receipt_keys (
    kid text NOT NULL,
    public_jwk text NOT NULL,
    private_kid text NOT NULL,
    private_sealed bytea NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.receipts (
    id text NOT NULL,
    payment_id uuid NOT NULL,
    jws text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT receipts_id_check CHECK ((length(id) >= 22))
);
CREATE TABLE public.receiver_changes (
    id uuid NOT NULL,
    merchant_id uuid NOT NULL,
    env text NOT NULL,
    address bytea NOT NULL,
    requested_by uuid NOT NULL,
    requested_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    outcome text,
    CONSTRAINT receiver_changes_address_check CHECK ((length(address) = 20)),
    CONSTRAINT receiver_changes_check CHECK (((ended_at IS NULL) = (outcome IS NULL))),
    CONSTRAINT receiver_changes_env_check CHECK ((env = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT receiver_changes_outcome_check CHECK ((outcome = ANY (ARRAY['applied'::text, 'withdrawn'::text, 'replaced'::text, 'lost'::text])))
);
CREATE TABLE public.relayer_transactions (
    wallet bytea NOT NULL,
    nonce bigint NOT NULL,
    purpose text NOT NULL,
    reference uuid NOT NULL,
    raw bytea NOT NULL,
    transaction_id bytea NOT NULL,
    earlier_ids bytea[] DEFAULT '{}'::bytea[] NOT NULL,
    outcome text,
    created_at timestamp with time zone NOT NULL,
    mined_at timestamp with time zone,
    CONSTRAINT relayer_transactions_outcome_check CHECK ((outcome = ANY (ARRAY['moved'::text, 'reverted'::text, 'lost'::text]))),
    CONSTRAINT relayer_transactions_purpose_check CHECK ((purpose = ANY (ARRAY['settle'::text, 'cancel'::text]))),
    CONSTRAINT relayer_transactions_transaction_id_check CHECK ((length(transaction_id) = 32)),
    CONSTRAINT relayer_transactions_wallet_check CHECK ((length(wallet) = 20))
);
CREATE TABLE public.sessions (
    hash bytea NOT NULL,
    user_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    confirmed_at timestamp with time zone DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone NOT NULL,
    CONSTRAINT sessions_hash_check CHECK ((length(hash) = 32))
);
CREATE TABLE public.shown_addresses (
    payment_id uuid NOT NULL,
    shown_at timestamp with time zone NOT NULL
);
CREATE TABLE public.users (
    id uuid NOT NULL,
    email text NOT NULL,
    password_hash text,
    operator boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT users_email_check CHECK (((email = lower(email)) AND (length(email) <= 254)))
);
CREATE TABLE public.wallet_transactions (
    wallet bytea NOT NULL,
    nonce bigint NOT NULL,
    purpose text NOT NULL,
    reference uuid NOT NULL,
    merchant_id uuid,
    payer bytea,
    gas bigint NOT NULL,
    versions bytea[] NOT NULL,
    earlier_ids bytea[] DEFAULT '{}'::bytea[] NOT NULL,
    refused_at timestamp with time zone,
    outcome text,
    transaction_id bytea,
    block_number bigint,
    created_at timestamp with time zone NOT NULL,
    signed_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT wallet_transactions_check CHECK (((ended_at IS NULL) = (outcome IS NULL))),
    CONSTRAINT wallet_transactions_outcome_check CHECK ((outcome = ANY (ARRAY['moved'::text, 'reverted'::text, 'lost'::text, 'filled'::text]))),
    CONSTRAINT wallet_transactions_payer_check CHECK ((length(payer) = 20)),
    CONSTRAINT wallet_transactions_purpose_check CHECK ((purpose = ANY (ARRAY['settle'::text, 'cancel'::text, 'gas'::text, 'usdc'::text, 'filler'::text]))),
    CONSTRAINT wallet_transactions_transaction_id_check CHECK ((length(transaction_id) = 32)),
    CONSTRAINT wallet_transactions_versions_check CHECK ((cardinality(versions) > 0)),
    CONSTRAINT wallet_transactions_wallet_check CHECK ((length(wallet) = 20))
);
CREATE TABLE public.webhook_attempts (
    delivery_id uuid NOT NULL,
    number integer NOT NULL,
    manual boolean DEFAULT false NOT NULL,
    started_at timestamp with time zone NOT NULL,
    duration_ms integer,
    response_status integer,
    failure text,
    response_body bytea,
    request_head text,
    CONSTRAINT webhook_attempts_number_check CHECK ((number > 0))
);
CREATE TABLE public.webhook_deliveries (
    id uuid NOT NULL,
    merchant_id uuid NOT NULL,
    env text NOT NULL,
    endpoint_id uuid,
    payment_id uuid,
    type text NOT NULL,
    body bytea NOT NULL,
    status text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    interruptions integer DEFAULT 0 NOT NULL,
    due_at timestamp with time zone,
    claim_id uuid,
    resent_from text,
    created_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    claimed_by uuid,
    CONSTRAINT webhook_deliveries_check CHECK (((status = 'pending'::text) = (due_at IS NOT NULL))),
    CONSTRAINT webhook_deliveries_check1 CHECK (((status <> 'pending'::text) OR (endpoint_id IS NOT NULL))),
    CONSTRAINT webhook_deliveries_env_check CHECK ((env = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT webhook_deliveries_resent_from_check CHECK ((resent_from = ANY (ARRAY['delivered'::text, 'failed'::text, 'cancelled'::text]))),
    CONSTRAINT webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text, 'cancelled'::text]))),
    CONSTRAINT webhook_deliveries_type_check CHECK ((type = ANY (ARRAY['payment.settled'::text, 'test'::text])))
);
CREATE TABLE public.webhook_endpoints (
    id uuid NOT NULL,
    merchant_id uuid NOT NULL,
    env text NOT NULL,
    url text NOT NULL,
    secret_kid text NOT NULL,
    secret_ciphertext bytea NOT NULL,
    secret_last_four text NOT NULL,
    listening boolean DEFAULT false NOT NULL,
    failing boolean DEFAULT false NOT NULL,
    last_delivered_at timestamp with time zone,
    verified_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    CONSTRAINT webhook_endpoints_env_check CHECK ((env = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT webhook_endpoints_secret_last_four_check CHECK ((length(secret_last_four) = 4)),
    CONSTRAINT webhook_endpoints_url_check CHECK ((length(url) <= 2048))
);
CREATE TABLE public.webhook_workers (
    id uuid NOT NULL,
    beat bigint NOT NULL,
    beat_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE public.x402_settlements (
    id uuid NOT NULL,
    merchant_id uuid NOT NULL,
    env text NOT NULL,
    payment_id uuid NOT NULL,
    opens_payment boolean NOT NULL,
    chain_id integer NOT NULL,
    asset bytea NOT NULL,
    payer bytea NOT NULL,
    nonce bytea NOT NULL,
    receiver bytea NOT NULL,
    amount numeric(20,0) NOT NULL,
    valid_after numeric(78,0) NOT NULL,
    valid_before numeric(78,0) NOT NULL,
    signature bytea NOT NULL,
    resource text NOT NULL,
    status text NOT NULL,
    error_reason text,
    transaction_id bytea,
    created_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    next_look_at timestamp with time zone,
    answered_at timestamp with time zone,
    answered_to text,
    told_reason text,
    reserves boolean DEFAULT true NOT NULL,
    payer_type text DEFAULT 'agent'::text NOT NULL,
    CONSTRAINT x402_settlements_amount_check CHECK ((amount > (0)::numeric)),
    CONSTRAINT x402_settlements_answered_to_check CHECK ((length(answered_to) <= 200)),
    CONSTRAINT x402_settlements_asset_check CHECK ((length(asset) = 20)),
    CONSTRAINT x402_settlements_check CHECK (((status = 'failed'::text) = (error_reason IS NOT NULL))),
    CONSTRAINT x402_settlements_check1 CHECK (((status <> 'settled'::text) OR (transaction_id IS NOT NULL))),
    CONSTRAINT x402_settlements_env_check CHECK ((env = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT x402_settlements_nonce_check CHECK ((length(nonce) = 32)),
    CONSTRAINT x402_settlements_payer_check CHECK ((length(payer) = 20)),
    CONSTRAINT x402_settlements_payer_type_check CHECK ((payer_type = ANY (ARRAY['human'::text, 'agent'::text]))),
    CONSTRAINT x402_settlements_receiver_check CHECK ((length(receiver) = 20)),
    CONSTRAINT x402_settlements_resource_check CHECK ((length(resource) <= 2048)),
    CONSTRAINT x402_settlements_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'settled'::text, 'failed'::text]))),
    CONSTRAINT x402_settlements_transaction_id_check CHECK ((length(transaction_id) = 32))
);
INSERT INTO public.agents OVERRIDING SYSTEM VALUE VALUES ('01a20827-861a-77a1-a0ff-ef493ee38906', '01a20827-5d6f-73de-83ea-1c10d3d321de', 'test', 'Researcher', 1, '\x70997970c51812dc3a010c7d01b50e0d17dc79c8', '01a20827-861a-77a1-a0ff-ef485481d7bf', 2500000, 10000000, NULL, NULL, 'active', '2026-11-23 11:25:37.69+00', '2026-11-23 11:25:37.69+00');
INSERT INTO public.alerts VALUES ('e0a1d0c9-1d18-4712-8df3-8d1f0f15e937', '01a20827-5d6f-73de-83ea-1c10d3d321de', 'test', 'webhook_exhausted', 'b6b799b2-a7a4-8461-b6f1-a2518ea9f27f', 'A webhook delivery failed permanently. Repair the receiver, then resend it.', '2026-11-23 11:25:29.584+00', NULL, NULL);
INSERT INTO public.alerts VALUES ('dc1fa967-b75f-4e17-ac9a-a6568d54d468', '01a20827-5d6f-73de-83ea-1c10d3d321de', 'test', 'webhook_exhausted', '8a2f588d-e954-8bea-a960-e49d15acdc20', 'A webhook delivery failed permanently. Repair the receiver, then resend it.', '2026-11-23 11:25:32.072+00', NULL, NULL);
INSERT INTO public.api_keys VALUES ('01a20827-5d70-703a-a9ab-142bb5436044', '01a20827-5d6f-73de-83ea-1c10d3d321de', 'secret', 'test', 'manage', '\x07750ca8783c33dc5945db77f2f6530ee4f5aa1592c4fad62ce0b6a3bb3f768d', 'sk_test_', 'L9h6', '2026-11-23 11:25:27.281+00', NULL, NULL);
INSERT INTO public.api_keys VALUES ('01a20827-5d71-7024-bbf3-6222d594a7da', '01a20827-5d6f-73de-83ea-1c10d3d321de', 'publishable', 'test', 'read', '\x1a39262842f6e7c63fb479216dd8b9c399280b92032640f552e226532e95f9e3', 'pk_test_', 'DYOB', '2026-11-23 11:25:27.281+00', NULL, NULL);
INSERT INTO public.api_keys VALUES ('01a20827-8610-755b-a6fd-e472e09b386e', '01a20827-5d6f-73de-83ea-1c10d3d321de', 'publishable', 'test', 'read', '\x759f84231cff4692c11e67014c20440a446279fa66012a284cf3c11713b82e0e', 'pk_test_', 'eFxL', '2026-11-23 11:25:37.68+00', NULL, NULL);
INSERT INTO public.api_keys VALUES ('01a20827-861a-77a1-a0ff-ef485481d7bf', '01a20827-5d6f-73de-83ea-1c10d3d321de', 'agent', 'test', 'manage', '\x727963812957e8428786487b262f2fea54fb66a32e434cae7cad46c015ff2274', 'ak_test_', 'HhHQ', '2026-11-23 11:25:37.69+00', NULL, NULL);
INSERT INTO public.chain_cursors VALUES (84532, 9, '\xaed944741971ca2e5a0bd23288c332f67b4549a3b6466b7bd749323f7e01c131', '2026-11-23 11:25:37+00', NULL, NULL);
INSERT INTO public.claimed_transfers VALUES (84532, '\xbe44a453a3002cfb6f996f2a00582576cfe69eeff2b883f43e2b99703b07519a', 0, '01a20827-5d97-75de-826e-88d493604a9c', 3, '\x9c8deee957872ffa022843851c4091e8b24b9dfc7e95ba4b87d717b8a4447727', '2026-11-23 11:26:27.4+00', NULL, '\xbafb350ae3fe413f3f113eb93cc465b2155357d9', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 10000000, 0);
INSERT INTO public.claimed_transfers VALUES (84532, '\x6bb721c0e3c9fc8a51355fac61e8a79cfd0458b14ce9dbb720d4aa1344980d45', 0, '01a20827-5e01-70d3-8769-ada1de360691', 5, '\x80a443c30112c86f9d0fd817807e0b6877c6bf6d00308ad283a70a685ef29ad0', '2026-11-23 11:26:27.466+00', NULL, '\x6adc6efc0e5540e6a840d8aed393f757e9ad585a', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 4200000, 0);
INSERT INTO public.claimed_transfers VALUES (84532, '\x862dfd1313ec2db1a8032f9a142665e623dde9d250fe603db50e06a6b2a7061d', 0, '01a20827-5e3a-73f5-acb1-c58e8413ac35', 7, '\x8c95055289492d783e58eb0289579fb67d9b5d08049322d34a556b2c285c00d5', '2026-11-23 11:26:27.546+00', NULL, '\xe399c97877b0e86819e477380ceba402a0fe3e74', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 7770000, 0);
INSERT INTO public.claimed_transfers VALUES (84532, '\xe80f3f50720a7a80f73ae63631ec46e15ea93585b5681116840e71938be43149', 0, '01a20827-a990-7333-b767-ffcec9cd6ca6', 11, '\xb3721542955393172d5e0aa8795e5021f730ffd4a5a2d6ca31098bec57cf27bc', '2026-11-23 11:26:46.825+00', NULL, '\x614de7a6226bfabef04caeadb7e9dda87ebc3251', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 1110000, 0);
INSERT INTO public.effect_sql_migrations VALUES (1, '2026-11-23 11:25:26.607296+00', 'initial');
INSERT INTO public.effect_sql_migrations VALUES (2, '2026-11-23 11:25:26.671698+00', 'dashboard');
INSERT INTO public.effect_sql_migrations VALUES (3, '2026-11-23 11:25:26.692398+00', 'agents');
INSERT INTO public.effect_sql_migrations VALUES (4, '2026-11-23 11:25:26.71561+00', 'incoming_transfers');
INSERT INTO public.effect_sql_migrations VALUES (5, '2026-11-23 11:25:26.746315+00', 'x402');
INSERT INTO public.effect_sql_migrations VALUES (6, '2026-11-23 11:25:26.76934+00', 'receivers');
INSERT INTO public.effect_sql_migrations VALUES (7, '2026-11-23 11:25:26.785282+00', 'reservations');
INSERT INTO public.effect_sql_migrations VALUES (8, '2026-11-23 11:25:26.791809+00', 'webhook_workers');
INSERT INTO public.effect_sql_migrations VALUES (9, '2026-11-23 11:25:26.797016+00', 'moved_receivers');
INSERT INTO public.effect_sql_migrations VALUES (10, '2026-11-23 11:25:26.802114+00', 'links_and_browsers');
INSERT INTO public.effect_sql_migrations VALUES (11, '2026-11-23 11:25:26.815651+00', 'money_levers');
INSERT INTO public.effect_sql_migrations VALUES (12, '2026-11-23 11:25:26.836967+00', 'audit_trigger_always');
INSERT INTO public.effect_sql_migrations VALUES (13, '2026-11-23 11:25:26.840135+00', 'buyers_ways');
INSERT INTO public.incoming_transfers VALUES ('01a20827-705c-7578-af24-cb76a96c72e6', 84532, '\xbe44a453a3002cfb6f996f2a00582576cfe69eeff2b883f43e2b99703b07519a', '\xbafb350ae3fe413f3f113eb93cc465b2155357d9', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 10000000, 0, '01a20827-5d6f-73de-83ea-1c10d3d321de', 'test', 3, '\x9c8deee957872ffa022843851c4091e8b24b9dfc7e95ba4b87d717b8a4447727', '2026-11-23 11:25:27+00', NULL, '01a20827-5d97-75de-826e-88d493604a9c', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-23 11:25:32.124+00');
INSERT INTO public.incoming_transfers VALUES ('01a20827-7066-70e1-8c6c-0f344f3cf525', 84532, '\x6bb721c0e3c9fc8a51355fac61e8a79cfd0458b14ce9dbb720d4aa1344980d45', '\x6adc6efc0e5540e6a840d8aed393f757e9ad585a', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 4200000, 0, '01a20827-5d6f-73de-83ea-1c10d3d321de', 'test', 5, '\x80a443c30112c86f9d0fd817807e0b6877c6bf6d00308ad283a70a685ef29ad0', '2026-11-23 11:25:27+00', NULL, '01a20827-5e01-70d3-8769-ada1de360691', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-23 11:25:32.134+00');
INSERT INTO public.incoming_transfers VALUES ('01a20827-706d-706d-b10a-868cad1899b4', 84532, '\x862dfd1313ec2db1a8032f9a142665e623dde9d250fe603db50e06a6b2a7061d', '\xe399c97877b0e86819e477380ceba402a0fe3e74', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 7770000, 0, '01a20827-5d6f-73de-83ea-1c10d3d321de', 'test', 7, '\x8c95055289492d783e58eb0289579fb67d9b5d08049322d34a556b2c285c00d5', '2026-11-23 11:25:27+00', NULL, '01a20827-5e3a-73f5-acb1-c58e8413ac35', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-23 11:25:32.141+00');
INSERT INTO public.incoming_transfers VALUES ('01a20827-9791-77fb-8001-b32951108bb1', 84532, '\x01c00d2eace272cc5a9ab3cc2dffaa97e21b370524c00948ba356f80b7011706', '\x976ea74026e726554db657fa54763abd0c3a0aa9', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 3000000, 0, '01a20827-5d6f-73de-83ea-1c10d3d321de', 'test', 9, '\xaed944741971ca2e5a0bd23288c332f67b4549a3b6466b7bd749323f7e01c131', '2026-11-23 11:25:37+00', 'unknown', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-23 11:25:42.161+00');
INSERT INTO public.known_browsers VALUES ('\x63d9eb759d866392bba5236ec8b20758a7f03164da557aeadaa5591b629c2bda', '01a20827-5d6a-7404-a030-228446c537d6', '2026-11-23 11:25:27.298+00', '2027-11-23 11:25:27.298+00');
INSERT INTO public.merchant_members VALUES ('01a20827-5d6f-73de-83ea-1c10d3d321de', '01a20827-5d6a-7404-a030-228446c537d6', '2026-11-23 11:25:27.274+00');
INSERT INTO public.merchant_receivers VALUES ('test', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', '01a20827-5d6f-73de-83ea-1c10d3d321de', '2026-11-23 11:25:27.286+00', '2026-11-23 11:25:27.286+00');
INSERT INTO public.merchant_receivers VALUES ('live', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', '01a20827-5d6f-73de-83ea-1c10d3d321de', '2026-11-23 11:25:27.287+00', '2026-11-23 11:25:27.287+00');
INSERT INTO public.merchants VALUES ('01a20827-5d6f-73de-83ea-1c10d3d321de', 'Demo Books', NULL, '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', NULL, '2026-11-23 11:25:27.281+00', false, 86400, '{}');
INSERT INTO public.payment_links VALUES ('3EMaOy_zhKgAp82FkLRDLKjX', '01a20827-5d6f-73de-83ea-1c10d3d321de', 'test', 'pk_test_qFWBvwQeM1zSDSHAKET0ZfJ0J11kpOd37Bw9PRz0sPk08eFxL', 'Chess lesson', 12000000, NULL, NULL, false, NULL, '2026-11-23 11:25:37.678+00', NULL, NULL);
INSERT INTO public.payments VALUES ('01a20827-5d97-75de-826e-88d493604a9c', '01a20827-5d6f-73de-83ea-1c10d3d321de', 'test', 'settled', 10000000, 'PAY-I3GYFL2X', 'http://localhost:44957/playground', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 'human', '2026-11-23 11:25:27.325+00', '2026-11-23 11:25:27.387+00', '\xbe44a453a3002cfb6f996f2a00582576cfe69eeff2b883f43e2b99703b07519a', '\xbafb350ae3fe413f3f113eb93cc465b2155357d9', '[{"chainId": 84532, "receiver": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc", "amountAtomic": "10000000", "tokenAddress": "0x036CbD53842c5426634e7929541eC2318f3dCF7e"}]', '2026-11-23 11:25:27.4+00', NULL, NULL, NULL, NULL);
INSERT INTO public.payments VALUES ('01a20827-5e01-70d3-8769-ada1de360691', '01a20827-5d6f-73de-83ea-1c10d3d321de', 'test', 'settled', 4200000, 'PAY-OSFGVJY3', 'http://localhost:44957/playground', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 'human', '2026-11-23 11:25:27.428+00', '2026-11-23 11:25:27.46+00', '\x6bb721c0e3c9fc8a51355fac61e8a79cfd0458b14ce9dbb720d4aa1344980d45', '\x6adc6efc0e5540e6a840d8aed393f757e9ad585a', '[{"chainId": 84532, "receiver": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc", "amountAtomic": "4200000", "tokenAddress": "0x036CbD53842c5426634e7929541eC2318f3dCF7e"}]', '2026-11-23 11:25:27.466+00', NULL, NULL, NULL, NULL);
INSERT INTO public.payments VALUES ('01a20827-5e3a-73f5-acb1-c58e8413ac35', '01a20827-5d6f-73de-83ea-1c10d3d321de', 'test', 'settled', 7770000, 'PAY-8XFTCWP3', 'http://localhost:44957/playground', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 'human', '2026-11-23 11:25:27.485+00', '2026-11-23 11:25:27.524+00', '\x862dfd1313ec2db1a8032f9a142665e623dde9d250fe603db50e06a6b2a7061d', '\xe399c97877b0e86819e477380ceba402a0fe3e74', '[{"chainId": 84532, "receiver": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc", "amountAtomic": "7770000", "tokenAddress": "0x036CbD53842c5426634e7929541eC2318f3dCF7e"}]', '2026-11-23 11:25:27.546+00', NULL, NULL, NULL, NULL);
INSERT INTO public.payments VALUES ('01a20827-8604-7336-b08d-5f84e0d77d9b', '01a20827-5d6f-73de-83ea-1c10d3d321de', 'test', 'pending', 33000000, 'PAY-3GP5I5PA', 'https://shop.example.com/orders/33', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 'human', '2026-11-23 11:25:37.671+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 7, NULL);
INSERT INTO public.payments VALUES ('01a20827-a990-7333-b767-ffcec9cd6ca6', '01a20827-5d6f-73de-83ea-1c10d3d321de', 'test', 'settled', 1110000, 'PAY-DOQ7HX3H', 'http://localhost:44957/playground', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 'human', '2026-11-23 11:25:46.772+00', '2026-11-23 11:25:46.819+00', '\xe80f3f50720a7a80f73ae63631ec46e15ea93585b5681116840e71938be43149', '\x614de7a6226bfabef04caeadb7e9dda87ebc3251', '[{"chainId": 84532, "receiver": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc", "amountAtomic": "1110000", "tokenAddress": "0x036CbD53842c5426634e7929541eC2318f3dCF7e"}]', '2026-11-23 11:25:46.825+00', NULL, NULL, 9, NULL);
INSERT INTO public.receipt_keys VALUES ('01a20827-a984-73e1-8a91-50918292e88d', '{"crv":"P-256","kty":"EC","x":"lQsxfgbvLSPv1o5CaJHqFvV9eZWBcDZRLl-RdH8uZwk","y":"g_cwyOEpOb3J_ECV8keKeJWC9CmLDGkHiat71RvI4Tg","kid":"01a20827-a984-73e1-8a91-50918292e88d","alg":"ES256","use":"sig"}', 'test', '\x1d300a1bec7f0b123a733f377b3a24368f554eeb83f3db182449b93cd7c9919dfe61b5ccefcf3846aa322a62bad2000763f120a128039da0f27d863f17708b85b040254a537eaa5e0bba22309e8dc05355cceab2b51c3a7813568406a34db8880961000742d18e3056a6b8c779f6125273f5c0a7913216c8a7ba2162a5ffc1377e056f889b2b1450d2e4db14d157ce046b755bc08b73649cbe797a3956d861c89a5edd86bc6a028c0c678283276cff18e982fea4da97aac9b2b2a2843448204d3bda2eca570c5833f562848d', '2026-11-23 11:25:46.757+00');
INSERT INTO public.receipts VALUES ('otfMbkKs6owT1j5YqA-4IDoe', '01a20827-5d97-75de-826e-88d493604a9c', 'eyJhbGciOiJFUzI1NiIsImtpZCI6IjAxYTIwODI3LWE5ODQtNzNlMS04YTkxLTUwOTE4MjkyZTg4ZCIsInR5cCI6InJlY2VpcHQrandzIn0.eyJpc3MiOiJodHRwOi8vMTI3LjAuMC4xOjQ0OTU3IiwianRpIjoib3RmTWJrS3M2b3dUMWo1WXFBLTRJRG9lIiwiaWF0IjoxNzk1NDMzMTI3LCJwYXltZW50SWQiOiIwMWEyMDgyNy01ZDk3LTc1ZGUtODI2ZS04OGQ0OTM2MDRhOWMiLCJyZWZDb2RlIjoiUEFZLUkzR1lGTDJYIiwibWVyY2hhbnQiOiJEZW1vIEJvb2tzIiwiYW1vdW50IjoiMTAuMDAiLCJjdXJyZW5jeSI6IlVTRCIsImVudiI6InRlc3QiLCJzZXR0bGVkQXQiOiIyMDI2LTExLTIzVDExOjI1OjI3LjQwMFoiLCJwYXllciI6IjB4QkFmQjM1MEFFM2ZFNDEzRjNmMTEzZWI5M0NjNDY1QjIxNTUzNTdEOSIsInJlY2VpdmVyIjoiMHg5OTY1NTA3RDFhNTViY0MyNjk1QzU4YmExNkZCMzdkODE5QjBBNGRjIiwidHJhbnNhY3Rpb25JZCI6IjB4YmU0NGE0NTNhMzAwMmNmYjZmOTk2ZjJhMDA1ODI1NzZjZmU2OWVlZmYyYjg4M2Y0M2UyYjk5NzAzYjA3NTE5YSIsInRva2VuIjp7ImFkZHJlc3MiOiIweDAzNkNiRDUzODQyYzU0MjY2MzRlNzkyOTU0MWVDMjMxOGYzZENGN2UiLCJjaGFpbklkIjo4NDUzMn19.wQdYVW7NTkpSXfVH1VpWTxicp8UAdbpZDFtOlyf52vcSIoQpGz9bA2L99uahuDrokwPumo1nurmJrBcyx1ah6g', '2026-11-23 11:25:46.76+00');
INSERT INTO public.sessions VALUES ('\x554075aee020ff818537fd82f3ebdde4091b151b7ba52639d484350b76fa7da2', '01a20827-5d6a-7404-a030-228446c537d6', '2026-11-23 11:25:27.291+00', '2026-11-30 11:25:27.291+00', '2026-11-23 11:25:27.291+00');
INSERT INTO public.users VALUES ('01a20827-5d6a-7404-a030-228446c537d6', 'owner@example.com', '$argon2id$v=19$m=65536,t=2,p=1$sb1029uQZ4TqL2UP9PSeDbEdrrGVe/ShwJyW4hE7EB0$045nIFkgE2FLuGeyIK2b/Q4MVE7JnpPFOgR5bblT2f4', false, '2026-11-23 11:25:27.274+00');
INSERT INTO public.webhook_attempts VALUES ('801630c5-a23c-838a-a522-64d060e288d9', 1, false, '2026-11-23 11:25:27.409+00', 5, 204, NULL, NULL, 'POST /hooks HTTP/1.1
host: 127.0.0.1:43727
user-agent: Quittance-Webhooks/1
accept: */*
accept-encoding: identity
content-type: application/json
content-length: 349
x-service-signature: t=1795433127,v1=95d87c87c7d32b63afd498176f6ac604595e0f33ef3c7a67cdf8b1d45c1a20fe
webhook-id: 801630c5-a23c-838a-a522-64d060e288d9
webhook-timestamp: 1795433127
webhook-signature: v1,5ZpW2lPftQBYhUDVyVU3gt9VO8pCdpyAna90jNgYhMY=');
INSERT INTO public.webhook_attempts VALUES ('b6b799b2-a7a4-8461-b6f1-a2518ea9f27f', 1, false, '2026-11-23 11:25:27.471+00', 1, 500, 'status', NULL, 'POST /hooks HTTP/1.1
host: 127.0.0.1:43727
user-agent: Quittance-Webhooks/1
accept: */*
accept-encoding: identity
content-type: application/json
content-length: 348
x-service-signature: t=1795433127,v1=292681644af396a575e9df8f70d54ababe093cc9de994799c935fc69b9371c98
webhook-id: b6b799b2-a7a4-8461-b6f1-a2518ea9f27f
webhook-timestamp: 1795433127
webhook-signature: v1,iilJBIW5hn2vqLvhxWHjwlwOnUeHE94QrY4yu63hgR4=');
INSERT INTO public.webhook_attempts VALUES ('8a2f588d-e954-8bea-a960-e49d15acdc20', 1, false, '2026-11-23 11:25:27.551+00', 0, 500, 'status', NULL, 'POST /hooks HTTP/1.1
host: 127.0.0.1:43727
user-agent: Quittance-Webhooks/1
accept: */*
accept-encoding: identity
content-type: application/json
content-length: 348
x-service-signature: t=1795433127,v1=933a2ee072692ac1edb17642545f6f02376beaf00bd3040bb0addb1983b65128
webhook-id: 8a2f588d-e954-8bea-a960-e49d15acdc20
webhook-timestamp: 1795433127
webhook-signature: v1,WpnSpe5/gJpROkNMLeKdCBdO6KwjwgMOLahPZssJGBE=');
INSERT INTO public.webhook_attempts VALUES ('b6b799b2-a7a4-8461-b6f1-a2518ea9f27f', 2, false, '2026-11-23 11:25:29.566+00', 2, 500, 'status', NULL, 'POST /hooks HTTP/1.1
host: 127.0.0.1:43727
user-agent: Quittance-Webhooks/1
accept: */*
accept-encoding: identity
content-type: application/json
content-length: 348
x-service-signature: t=1795433129,v1=f579735987f0a5f21ccffb68832da199cdea2612bee6b49c1f55afd3b45963c8
webhook-id: b6b799b2-a7a4-8461-b6f1-a2518ea9f27f
webhook-timestamp: 1795433129
webhook-signature: v1,ENHryZrr8ZkZriAhoJAXSImtwevkPSL+8DYv5JKVtGY=');
INSERT INTO public.webhook_attempts VALUES ('8a2f588d-e954-8bea-a960-e49d15acdc20', 2, false, '2026-11-23 11:25:29.576+00', 0, 500, 'status', NULL, 'POST /hooks HTTP/1.1
host: 127.0.0.1:43727
user-agent: Quittance-Webhooks/1
accept: */*
accept-encoding: identity
content-type: application/json
content-length: 348
x-service-signature: t=1795433129,v1=b70eb320b8dde471272f0208089dc8784fb63d8baaece483d5b806c673f0ac3e
webhook-id: 8a2f588d-e954-8bea-a960-e49d15acdc20
webhook-timestamp: 1795433129
webhook-signature: v1,XOmm/mq1GIrydoqtkCCwj+Q71eE2IKgLov4Q3jrf3Fw=');
INSERT INTO public.webhook_attempts VALUES ('b6b799b2-a7a4-8461-b6f1-a2518ea9f27f', 3, false, '2026-11-23 11:25:29.58+00', 0, 500, 'status', NULL, 'POST /hooks HTTP/1.1
host: 127.0.0.1:43727
user-agent: Quittance-Webhooks/1
accept: */*
accept-encoding: identity
content-type: application/json
content-length: 348
x-service-signature: t=1795433129,v1=f579735987f0a5f21ccffb68832da199cdea2612bee6b49c1f55afd3b45963c8
webhook-id: b6b799b2-a7a4-8461-b6f1-a2518ea9f27f
webhook-timestamp: 1795433129
webhook-signature: v1,ENHryZrr8ZkZriAhoJAXSImtwevkPSL+8DYv5JKVtGY=');
INSERT INTO public.webhook_attempts VALUES ('8a2f588d-e954-8bea-a960-e49d15acdc20', 3, false, '2026-11-23 11:25:32.068+00', 1, 500, 'status', NULL, 'POST /hooks HTTP/1.1
host: 127.0.0.1:43727
user-agent: Quittance-Webhooks/1
accept: */*
accept-encoding: identity
content-type: application/json
content-length: 348
x-service-signature: t=1795433132,v1=36728acc22a571cfa4d751c52ecfa60ae44056d26fca6f561501181b99472585
webhook-id: 8a2f588d-e954-8bea-a960-e49d15acdc20
webhook-timestamp: 1795433132
webhook-signature: v1,apxgVY9BMUe92LhkIoWY8LZDKmcBxhparSZKKVXCQuo=');
INSERT INTO public.webhook_attempts VALUES ('e3b73bc5-7454-82ac-9abe-28d0135224a4', 1, false, '2026-11-23 11:25:46.829+00', 1, 500, 'status', NULL, 'POST /hooks HTTP/1.1
host: 127.0.0.1:43727
user-agent: Quittance-Webhooks/1
accept: */*
accept-encoding: identity
content-type: application/json
content-length: 348
x-service-signature: t=1795433146,v1=29872947cbd52c71a06abc323384c0959ad5ce501c1a937c12ed6375f76bd492
webhook-id: e3b73bc5-7454-82ac-9abe-28d0135224a4
webhook-timestamp: 1795433146
webhook-signature: v1,lKH/DruUTmJ1sGbRoRL0UHbnocdGu0ePwLmqCk2zfpw=');
INSERT INTO public.webhook_deliveries VALUES ('801630c5-a23c-838a-a522-64d060e288d9', '01a20827-5d6f-73de-83ea-1c10d3d321de', 'test', '01a20827-5d8c-72b4-aeb5-1b1e5f2f89d2', '01a20827-5d97-75de-826e-88d493604a9c', 'payment.settled', '\x7b226964223a2238303136333063352d613233632d383338612d613532322d363464303630653238386439222c2274797065223a227061796d656e742e736574746c6564222c226c6976656d6f6465223a66616c73652c227472616e73616374696f6e4964223a22307862653434613435336133303032636662366639393666326130303538323537366366653639656566663262383833663433653262393937303362303735313961222c22746f6b656e4368616e676573223a5b7b22616d6f756e7441746f6d6963223a223130303030303030222c22636861696e4964223a38343533322c227265636569766572223a22307839393635353037443161353562634332363935433538626131364642333764383139423041346463222c22746f6b656e41646472657373223a22307830333643624435333834326335343236363334653739323935343165433233313866336443463765227d5d7d', 'delivered', 1, 0, NULL, NULL, NULL, '2026-11-23 11:25:27.4+00', '2026-11-23 11:25:27.418+00', '01a20827-5c46-710e-b8ae-fe0ae5b787a0');
INSERT INTO public.webhook_deliveries VALUES ('b6b799b2-a7a4-8461-b6f1-a2518ea9f27f', '01a20827-5d6f-73de-83ea-1c10d3d321de', 'test', '01a20827-5d8c-72b4-aeb5-1b1e5f2f89d2', '01a20827-5e01-70d3-8769-ada1de360691', 'payment.settled', '\x7b226964223a2262366237393962322d613761342d383436312d623666312d613235313865613966323766222c2274797065223a227061796d656e742e736574746c6564222c226c6976656d6f6465223a66616c73652c227472616e73616374696f6e4964223a22307836626237323163306533633966633861353133353566616336316538613739636664303435386231346365396462623732306434616131333434393830643435222c22746f6b656e4368616e676573223a5b7b22616d6f756e7441746f6d6963223a2234323030303030222c22636861696e4964223a38343533322c227265636569766572223a22307839393635353037443161353562634332363935433538626131364642333764383139423041346463222c22746f6b656e41646472657373223a22307830333643624435333834326335343236363334653739323935343165433233313866336443463765227d5d7d', 'failed', 3, 0, NULL, NULL, NULL, '2026-11-23 11:25:27.466+00', '2026-11-23 11:25:29.584+00', '01a20827-5c46-710e-b8ae-fe0ae5b787a0');
INSERT INTO public.webhook_deliveries VALUES ('8a2f588d-e954-8bea-a960-e49d15acdc20', '01a20827-5d6f-73de-83ea-1c10d3d321de', 'test', '01a20827-5d8c-72b4-aeb5-1b1e5f2f89d2', '01a20827-5e3a-73f5-acb1-c58e8413ac35', 'payment.settled', '\x7b226964223a2238613266353838642d653935342d386265612d613936302d653439643135616364633230222c2274797065223a227061796d656e742e736574746c6564222c226c6976656d6f6465223a66616c73652c227472616e73616374696f6e4964223a22307838363264666431333133656332646231613830333266396131343236363565363233646465396432353066653630336462353065303661366232613730363164222c22746f6b656e4368616e676573223a5b7b22616d6f756e7441746f6d6963223a2237373730303030222c22636861696e4964223a38343533322c227265636569766572223a22307839393635353037443161353562634332363935433538626131364642333764383139423041346463222c22746f6b656e41646472657373223a22307830333643624435333834326335343236363334653739323935343165433233313866336443463765227d5d7d', 'failed', 3, 0, NULL, NULL, NULL, '2026-11-23 11:25:27.546+00', '2026-11-23 11:25:32.072+00', '01a20827-5c46-710e-b8ae-fe0ae5b787a0');
INSERT INTO public.webhook_deliveries VALUES ('e3b73bc5-7454-82ac-9abe-28d0135224a4', '01a20827-5d6f-73de-83ea-1c10d3d321de', 'test', '01a20827-5d8c-72b4-aeb5-1b1e5f2f89d2', '01a20827-a990-7333-b767-ffcec9cd6ca6', 'payment.settled', '\x7b226964223a2265336237336263352d373435342d383261632d396162652d323864303133353232346134222c2274797065223a227061796d656e742e736574746c6564222c226c6976656d6f6465223a66616c73652c227472616e73616374696f6e4964223a22307865383066336635303732306137613830663733616536333633316563343665313565613933353835623536383131313638343065373139333862653433313439222c22746f6b656e4368616e676573223a5b7b22616d6f756e7441746f6d6963223a2231313130303030222c22636861696e4964223a38343533322c227265636569766572223a22307839393635353037443161353562634332363935433538626131364642333764383139423041346463222c22746f6b656e41646472657373223a22307830333643624435333834326335343236363334653739323935343165433233313866336443463765227d5d7d', 'pending', 1, 0, '2026-11-23 12:25:47.136097+00', NULL, NULL, '2026-11-23 11:25:46.825+00', NULL, '01a20827-5c46-710e-b8ae-fe0ae5b787a0');
INSERT INTO public.webhook_endpoints VALUES ('01a20827-5d8c-72b4-aeb5-1b1e5f2f89d2', '01a20827-5d6f-73de-83ea-1c10d3d321de', 'test', 'http://127.0.0.1:43727/hooks', 'test', '\xdb1faee4d31fb00496002249a8f2a8e49b6d3c8d3da7788f3792b5bbcfb8090628f05713ce090d3e3aa67319db4e8e417b3c0a4e2690cbef827854ee56161a2af7362ffadc1cc2554b271ff74d28', 'hhk=', true, true, '2026-11-23 11:25:27.418+00', '2026-11-23 11:25:27.418+00', '2026-11-23 11:25:27.309+00', '2026-11-23 11:25:27.309+00', NULL);
SELECT pg_catalog.setval('public.agents_wallet_index_seq', 1, true);
ALTER TABLE ONLY public.agent_payees
    ADD CONSTRAINT agent_payees_pkey PRIMARY KEY (agent_id, host);
ALTER TABLE ONLY public.agent_payments
    ADD CONSTRAINT agent_payments_agent_id_request_id_key UNIQUE (agent_id, request_id);
ALTER TABLE ONLY public.agent_payments
    ADD CONSTRAINT agent_payments_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_key_id_key UNIQUE (key_id);
ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_wallet_index_key UNIQUE (wallet_index);
ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT alerts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_hash_key UNIQUE (hash);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.audit_entries
    ADD CONSTRAINT audit_entries_pkey PRIMARY KEY ("position");
ALTER TABLE ONLY public.authorization_nonces
    ADD CONSTRAINT authorization_nonces_pkey PRIMARY KEY (nonce);
ALTER TABLE ONLY public.chain_cursors
    ADD CONSTRAINT chain_cursors_pkey PRIMARY KEY (chain_id);
ALTER TABLE ONLY public.claimed_transfers
    ADD CONSTRAINT claimed_transfers_payment_id_key UNIQUE (payment_id);
ALTER TABLE ONLY public.claimed_transfers
    ADD CONSTRAINT claimed_transfers_pkey PRIMARY KEY (chain_id, transaction_id, payer, receiver, amount, ordinal);
ALTER TABLE ONLY public.effect_sql_migrations
    ADD CONSTRAINT effect_sql_migrations_pkey PRIMARY KEY (migration_id);
ALTER TABLE ONLY public.faucet_grants
    ADD CONSTRAINT faucet_grants_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.faucet_transactions
    ADD CONSTRAINT faucet_transactions_pkey PRIMARY KEY (wallet, nonce);
ALTER TABLE ONLY public.incoming_transfers
    ADD CONSTRAINT incoming_transfers_chain_id_transaction_id_payer_receiver_a_key UNIQUE (chain_id, transaction_id, payer, receiver, amount, ordinal);
ALTER TABLE ONLY public.incoming_transfers
    ADD CONSTRAINT incoming_transfers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.known_browsers
    ADD CONSTRAINT known_browsers_pkey PRIMARY KEY (hash);
ALTER TABLE ONLY public.mails
    ADD CONSTRAINT mails_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.merchant_faces
    ADD CONSTRAINT merchant_faces_pkey PRIMARY KEY (merchant_id);
ALTER TABLE ONLY public.merchant_members
    ADD CONSTRAINT merchant_members_pkey PRIMARY KEY (merchant_id, user_id);
ALTER TABLE ONLY public.merchant_receivers
    ADD CONSTRAINT merchant_receivers_pkey PRIMARY KEY (env, address);
ALTER TABLE ONLY public.merchants
    ADD CONSTRAINT merchants_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.one_time_links
    ADD CONSTRAINT one_time_links_pkey PRIMARY KEY (hash);
ALTER TABLE ONLY public.payment_attempts
    ADD CONSTRAINT payment_attempts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.payment_links
    ADD CONSTRAINT payment_links_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.payment_reports
    ADD CONSTRAINT payment_reports_pkey PRIMARY KEY (payment_id, evidence);
ALTER TABLE ONLY public.payments
    ADD CONSTRAINT payments_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.payments
    ADD CONSTRAINT payments_ref_code_key UNIQUE (ref_code);
ALTER TABLE ONLY public.receipt_keys
    ADD CONSTRAINT receipt_keys_pkey PRIMARY KEY (kid);
ALTER TABLE ONLY public.receipts
    ADD CONSTRAINT receipts_payment_id_key UNIQUE (payment_id);
ALTER TABLE ONLY public.receipts
    ADD CONSTRAINT receipts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.receiver_changes
    ADD CONSTRAINT receiver_changes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.relayer_transactions
    ADD CONSTRAINT relayer_transactions_pkey PRIMARY KEY (wallet, nonce);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (hash);
ALTER TABLE ONLY public.shown_addresses
    ADD CONSTRAINT shown_addresses_pkey PRIMARY KEY (payment_id);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_email_key UNIQUE (email);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.wallet_transactions
    ADD CONSTRAINT wallet_transactions_pkey PRIMARY KEY (wallet, nonce);
ALTER TABLE ONLY public.webhook_attempts
    ADD CONSTRAINT webhook_attempts_pkey PRIMARY KEY (delivery_id, number);
ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.webhook_workers
    ADD CONSTRAINT webhook_workers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.x402_settlements
    ADD CONSTRAINT x402_settlements_chain_id_asset_payer_nonce_key UNIQUE (chain_id, asset, payer, nonce);
ALTER TABLE ONLY public.x402_settlements
    ADD CONSTRAINT x402_settlements_pkey PRIMARY KEY (id);
CREATE INDEX agent_payments_counted ON public.agent_payments USING btree (agent_id, created_at DESC) INCLUDE (amount, status);
CREATE INDEX agent_payments_due ON public.agent_payments USING btree (next_look_at) WHERE (next_look_at IS NOT NULL);
CREATE UNIQUE INDEX agent_payments_nonce ON public.agent_payments USING btree (agent_id, nonce) WHERE (status <> 'expired'::text);
CREATE INDEX agent_payments_payment ON public.agent_payments USING btree (agent_id, payment_id) WHERE (payment_id IS NOT NULL);
CREATE INDEX agents_merchant ON public.agents USING btree (merchant_id, env, created_at);
CREATE INDEX alerts_newest ON public.alerts USING btree (merchant_id, env, created_at DESC);
CREATE UNIQUE INDEX alerts_open ON public.alerts USING btree (kind, subject) WHERE (acknowledged_at IS NULL);
CREATE INDEX alerts_open_newest ON public.alerts USING btree (merchant_id, env, created_at DESC) WHERE (acknowledged_at IS NULL);
CREATE INDEX alerts_subject ON public.alerts USING btree (kind, subject);
CREATE INDEX api_keys_merchant ON public.api_keys USING btree (merchant_id, env, created_at);
CREATE INDEX audit_entries_merchant ON public.audit_entries USING btree (merchant_id, "position" DESC);
CREATE INDEX claimed_transfers_watched ON public.claimed_transfers USING btree (watch_at) WHERE (watch_at IS NOT NULL);
CREATE INDEX faucet_grants_client ON public.faucet_grants USING btree (client_address, created_at) WHERE (status <> 'returned'::text);
CREATE INDEX faucet_grants_merchant ON public.faucet_grants USING btree (merchant_id, created_at) WHERE (status <> 'returned'::text);
CREATE INDEX faucet_grants_recipient ON public.faucet_grants USING btree (recipient, created_at) WHERE (status <> 'returned'::text);
CREATE INDEX faucet_transactions_open ON public.faucet_transactions USING btree (wallet, nonce) WHERE (mined_at IS NULL);
CREATE INDEX incoming_transfers_block ON public.incoming_transfers USING btree (chain_id, block_number);
CREATE INDEX incoming_transfers_newest ON public.incoming_transfers USING btree (merchant_id, env, block_time DESC, id DESC);
CREATE INDEX incoming_transfers_open ON public.incoming_transfers USING btree (merchant_id, env, block_time DESC, id DESC) WHERE ((payment_id IS NULL) AND (dropped_at IS NULL));
CREATE INDEX incoming_transfers_unmatched ON public.incoming_transfers USING btree (match_at) WHERE (match_at IS NOT NULL);
CREATE INDEX known_browsers_expired ON public.known_browsers USING btree (expires_at);
CREATE INDEX known_browsers_user ON public.known_browsers USING btree (user_id);
CREATE INDEX mails_due ON public.mails USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX mails_ended ON public.mails USING btree (created_at) WHERE (due_at IS NULL);
CREATE INDEX merchant_members_user ON public.merchant_members USING btree (user_id);
CREATE INDEX merchant_receivers_merchant ON public.merchant_receivers USING btree (merchant_id, env);
CREATE INDEX one_time_links_email ON public.one_time_links USING btree (email) WHERE (used_at IS NULL);
CREATE INDEX one_time_links_expired ON public.one_time_links USING btree (expires_at);
CREATE INDEX one_time_links_merchant ON public.one_time_links USING btree (merchant_id, created_at);
CREATE UNIQUE INDEX payment_attempts_open ON public.payment_attempts USING btree (payment_id, payer_address) WHERE (closed_at IS NULL);
CREATE INDEX payment_attempts_payer ON public.payment_attempts USING btree (payer_address, announced_at);
CREATE INDEX payment_attempts_payment ON public.payment_attempts USING btree (payment_id, announced_at);
CREATE INDEX payment_links_newest ON public.payment_links USING btree (merchant_id, env, created_at DESC, id DESC);
CREATE INDEX payment_reports_due ON public.payment_reports USING btree (next_check_at) WHERE (next_check_at IS NOT NULL);
CREATE INDEX payment_reports_ended ON public.payment_reports USING btree (reported_at) WHERE (next_check_at IS NULL);
CREATE INDEX payment_reports_transaction ON public.payment_reports USING btree (transaction_id);
CREATE INDEX payment_verdicts_payment ON public.payment_verdicts USING btree (payment_id, at);
CREATE INDEX payments_failed ON public.payments USING btree (merchant_id, env, failed_at) WHERE (status = 'failed'::text);
CREATE INDEX payments_newest ON public.payments USING btree (merchant_id, env, created_at DESC, id DESC);
CREATE INDEX payments_pending ON public.payments USING btree (created_at) WHERE (status = 'pending'::text);
CREATE INDEX payments_settled ON public.payments USING btree (merchant_id, env, settled_at) INCLUDE (amount) WHERE (status = 'settled'::text);
CREATE INDEX payments_status_newest ON public.payments USING btree (merchant_id, env, status, created_at DESC, id DESC);
CREATE INDEX payments_transaction ON public.payments USING btree (transaction_id) WHERE (transaction_id IS NOT NULL);
CREATE INDEX receiver_changes_due ON public.receiver_changes USING btree (due_at) WHERE (ended_at IS NULL);
CREATE UNIQUE INDEX receiver_changes_open ON public.receiver_changes USING btree (merchant_id, env) WHERE (ended_at IS NULL);
CREATE UNIQUE INDEX relayer_transactions_open ON public.relayer_transactions USING btree (reference) WHERE (mined_at IS NULL);
CREATE INDEX relayer_transactions_reference ON public.relayer_transactions USING btree (reference, created_at DESC);
CREATE INDEX sessions_expired ON public.sessions USING btree (expires_at);
CREATE INDEX sessions_user ON public.sessions USING btree (user_id);
CREATE INDEX wallet_transactions_merchant ON public.wallet_transactions USING btree (merchant_id, created_at) INCLUDE (gas, outcome) WHERE (merchant_id IS NOT NULL);
CREATE UNIQUE INDEX wallet_transactions_once ON public.wallet_transactions USING btree (reference, purpose) WHERE ((ended_at IS NULL) AND (purpose <> 'filler'::text));
CREATE INDEX wallet_transactions_open ON public.wallet_transactions USING btree (wallet, nonce) WHERE (ended_at IS NULL);
CREATE INDEX wallet_transactions_payer ON public.wallet_transactions USING btree (payer, created_at) INCLUDE (gas, outcome) WHERE (payer IS NOT NULL);
CREATE INDEX wallet_transactions_reference ON public.wallet_transactions USING btree (reference, created_at DESC);
CREATE INDEX webhook_attempts_started ON public.webhook_attempts USING btree (started_at);
CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (endpoint_id, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX webhook_deliveries_newest ON public.webhook_deliveries USING btree (merchant_id, env, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_payment ON public.webhook_deliveries USING btree (payment_id) WHERE (payment_id IS NOT NULL);
CREATE UNIQUE INDEX webhook_endpoints_active ON public.webhook_endpoints USING btree (merchant_id, env) WHERE (deleted_at IS NULL);
CREATE INDEX x402_settlements_due ON public.x402_settlements USING btree (next_look_at) WHERE (next_look_at IS NOT NULL);
CREATE INDEX x402_settlements_of_payment ON public.x402_settlements USING btree (payment_id);
CREATE UNIQUE INDEX x402_settlements_reserves ON public.x402_settlements USING btree (payment_id) WHERE ((status <> 'failed'::text) AND reserves);
CREATE TRIGGER audit_entries_stay BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_entries FOR EACH STATEMENT EXECUTE FUNCTION public.audit_entries_stay();
ALTER TABLE public.audit_entries ENABLE ALWAYS TRIGGER audit_entries_stay;
CREATE TRIGGER claimed_transfers_complete BEFORE INSERT ON public.claimed_transfers FOR EACH ROW EXECUTE FUNCTION public.complete_claimed_transfer();
ALTER TABLE ONLY public.agent_payees
    ADD CONSTRAINT agent_payees_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES public.agents(id);
ALTER TABLE ONLY public.agent_payments
    ADD CONSTRAINT agent_payments_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES public.agents(id);
ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.api_keys(id);
ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES public.merchants(id);
ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT alerts_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES public.merchants(id);
ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT alerts_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES public.merchants(id);
ALTER TABLE ONLY public.audit_entries
    ADD CONSTRAINT audit_entries_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES public.users(id);
ALTER TABLE ONLY public.audit_entries
    ADD CONSTRAINT audit_entries_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES public.merchants(id);
ALTER TABLE ONLY public.claimed_transfers
    ADD CONSTRAINT claimed_transfers_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES public.payments(id);
ALTER TABLE ONLY public.faucet_grants
    ADD CONSTRAINT faucet_grants_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES public.merchants(id);
ALTER TABLE ONLY public.faucet_transactions
    ADD CONSTRAINT faucet_transactions_grant_id_fkey FOREIGN KEY (grant_id) REFERENCES public.faucet_grants(id);
ALTER TABLE ONLY public.incoming_transfers
    ADD CONSTRAINT incoming_transfers_attached_to_fkey FOREIGN KEY (attached_to) REFERENCES public.payments(id);
ALTER TABLE ONLY public.incoming_transfers
    ADD CONSTRAINT incoming_transfers_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES public.merchants(id);
ALTER TABLE ONLY public.incoming_transfers
    ADD CONSTRAINT incoming_transfers_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES public.payments(id);
ALTER TABLE ONLY public.known_browsers
    ADD CONSTRAINT known_browsers_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);
ALTER TABLE ONLY public.merchant_faces
    ADD CONSTRAINT merchant_faces_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES public.merchants(id);
ALTER TABLE ONLY public.merchant_members
    ADD CONSTRAINT merchant_members_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES public.merchants(id);
ALTER TABLE ONLY public.merchant_members
    ADD CONSTRAINT merchant_members_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);
ALTER TABLE ONLY public.merchant_receivers
    ADD CONSTRAINT merchant_receivers_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES public.merchants(id);
ALTER TABLE ONLY public.one_time_links
    ADD CONSTRAINT one_time_links_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES public.users(id);
ALTER TABLE ONLY public.one_time_links
    ADD CONSTRAINT one_time_links_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES public.merchants(id);
ALTER TABLE ONLY public.payment_attempts
    ADD CONSTRAINT payment_attempts_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES public.payments(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.payment_links
    ADD CONSTRAINT payment_links_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES public.merchants(id);
ALTER TABLE ONLY public.payment_reports
    ADD CONSTRAINT payment_reports_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES public.payments(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.payment_verdicts
    ADD CONSTRAINT payment_verdicts_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES public.payments(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.payments
    ADD CONSTRAINT payments_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES public.merchants(id);
ALTER TABLE ONLY public.receiver_changes
    ADD CONSTRAINT receiver_changes_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES public.merchants(id);
ALTER TABLE ONLY public.receiver_changes
    ADD CONSTRAINT receiver_changes_requested_by_fkey FOREIGN KEY (requested_by) REFERENCES public.users(id);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);
ALTER TABLE ONLY public.wallet_transactions
    ADD CONSTRAINT wallet_transactions_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES public.merchants(id);
ALTER TABLE ONLY public.webhook_attempts
    ADD CONSTRAINT webhook_attempts_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES public.webhook_deliveries(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES public.webhook_endpoints(id);
ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES public.merchants(id);
ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES public.payments(id);
ALTER TABLE ONLY public.webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES public.merchants(id);
ALTER TABLE ONLY public.x402_settlements
    ADD CONSTRAINT x402_settlements_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES public.merchants(id);

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
CREATE FUNCTION public.claimed_transfers_move_refused() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    BEGIN
      RAISE EXCEPTION '%: no move leads from % to %', TG_TABLE_NAME,
        CASE TG_OP WHEN 'INSERT' THEN 'none' ELSE CASE WHEN OLD.dropped_at IS NULL THEN 'held' ELSE 'dropped' END END,
        CASE TG_OP WHEN 'DELETE' THEN 'none' ELSE CASE WHEN NEW.dropped_at IS NULL THEN 'held' ELSE 'dropped' END END
        USING ERRCODE = 'QT001', TABLE = TG_TABLE_NAME;
    END $$;
CREATE FUNCTION public.incoming_transfers_move_refused() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    BEGIN
      RAISE EXCEPTION '%: no move leads from % to %', TG_TABLE_NAME,
        CASE TG_OP WHEN 'INSERT' THEN 'none' ELSE OLD.state END,
        CASE TG_OP WHEN 'DELETE' THEN 'none' ELSE NEW.state END
        USING ERRCODE = 'QT001', TABLE = TG_TABLE_NAME;
    END $$;
CREATE FUNCTION public.merchant_keeps_an_owner() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    BEGIN
      PERFORM FROM merchants WHERE id = OLD.merchant_id FOR NO KEY UPDATE;
      IF NOT EXISTS (SELECT FROM merchant_members WHERE merchant_id = OLD.merchant_id AND role = 'owner') THEN
        RAISE EXCEPTION 'A merchant keeps its last owner' USING ERRCODE = 'restrict_violation';
      END IF;
      RETURN NULL;
    END $$;
CREATE FUNCTION public.payments_move_refused() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    BEGIN
      RAISE EXCEPTION '%: no move leads from % to %', TG_TABLE_NAME,
        CASE TG_OP WHEN 'INSERT' THEN 'none' ELSE OLD.status END,
        CASE TG_OP WHEN 'DELETE' THEN 'none' ELSE NEW.status END
        USING ERRCODE = 'QT001', TABLE = TG_TABLE_NAME;
    END $$;
CREATE FUNCTION public.refunds_move_refused() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    BEGIN
      RAISE EXCEPTION '%: no move leads from % to %', TG_TABLE_NAME,
        CASE TG_OP WHEN 'INSERT' THEN 'none' ELSE CASE WHEN OLD.status = 'proven' AND OLD.dropped_at IS NOT NULL THEN 'dropped' ELSE OLD.status END END,
        CASE TG_OP WHEN 'DELETE' THEN 'none' ELSE CASE WHEN NEW.status = 'proven' AND NEW.dropped_at IS NOT NULL THEN 'dropped' ELSE NEW.status END END
        USING ERRCODE = 'QT001', TABLE = TG_TABLE_NAME;
    END $$;
CREATE FUNCTION public.x402_settlements_move_refused() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    BEGIN
      RAISE EXCEPTION '%: no move leads from % to %', TG_TABLE_NAME,
        CASE TG_OP WHEN 'INSERT' THEN 'none' ELSE CASE
      WHEN OLD.status = 'pending' THEN CASE WHEN OLD.reserves THEN 'reserved' ELSE 'released' END
      WHEN OLD.status = 'settled' AND OLD.answered_at IS NOT NULL THEN 'delivered'
      ELSE OLD.status END END,
        CASE TG_OP WHEN 'DELETE' THEN 'none' ELSE CASE
      WHEN NEW.status = 'pending' THEN CASE WHEN NEW.reserves THEN 'reserved' ELSE 'released' END
      WHEN NEW.status = 'settled' AND NEW.answered_at IS NOT NULL THEN 'delivered'
      ELSE NEW.status END END
        USING ERRCODE = 'QT001', TABLE = TG_TABLE_NAME;
    END $$;
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
CREATE TABLE public.alert_hooks (
    id uuid NOT NULL,
    merchant_id uuid NOT NULL,
    env text NOT NULL,
    shape text NOT NULL,
    host text NOT NULL,
    secret_kid text NOT NULL,
    secret_ciphertext bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT alert_hooks_env_check CHECK ((env = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT alert_hooks_shape_check CHECK ((shape = ANY (ARRAY['slack'::text, 'plain'::text])))
);
CREATE TABLE public.alert_posts (
    hook_id uuid NOT NULL,
    alert_id uuid NOT NULL,
    due_at timestamp with time zone,
    attempts integer DEFAULT 0 NOT NULL,
    sent_at timestamp with time zone,
    error text
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
    notify_at timestamp with time zone DEFAULT now(),
    acknowledged_by text,
    note text,
    CONSTRAINT alerts_env_check CHECK ((env = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT alerts_note_check CHECK ((length(note) <= 500))
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
    name text,
    public_key text,
    CONSTRAINT api_keys_check CHECK (((public_key IS NULL) OR (kind = 'publishable'::text))),
    CONSTRAINT api_keys_env_check CHECK ((env = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT api_keys_hash_check CHECK ((length(hash) = 32)),
    CONSTRAINT api_keys_kind_check CHECK ((kind = ANY (ARRAY['secret'::text, 'publishable'::text, 'agent'::text]))),
    CONSTRAINT api_keys_last_four_check CHECK ((length(last_four) = 4)),
    CONSTRAINT api_keys_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
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
CREATE TABLE public.authenticators (
    user_id uuid NOT NULL,
    secret_kid text NOT NULL,
    secret_ciphertext bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    confirmed_at timestamp with time zone,
    last_step bigint DEFAULT 0 NOT NULL
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
    payment_id uuid,
    block_number bigint NOT NULL,
    block_hash bytea NOT NULL,
    watch_at timestamp with time zone,
    dropped_at timestamp with time zone,
    payer bytea NOT NULL,
    receiver bytea NOT NULL,
    amount numeric(20,0) NOT NULL,
    ordinal integer NOT NULL,
    refund_id uuid,
    CONSTRAINT claimed_transfers_block_hash_check CHECK ((length(block_hash) = 32)),
    CONSTRAINT claimed_transfers_log_position_check CHECK ((log_position >= 0)),
    CONSTRAINT claimed_transfers_one CHECK ((num_nonnulls(payment_id, refund_id) = 1)),
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
    state text GENERATED ALWAYS AS (
CASE
    WHEN (dropped_at IS NOT NULL) THEN 'dropped'::text
    WHEN (payment_id IS NOT NULL) THEN 'paid'::text
    WHEN (attached_to IS NOT NULL) THEN 'attaching'::text
    WHEN (handled_at IS NOT NULL) THEN 'handled'::text
    ELSE 'open'::text
END) STORED NOT NULL,
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
CREATE TABLE public.merchant_branding (
    merchant_id uuid NOT NULL,
    logo bytea,
    accent_color text,
    support text,
    CONSTRAINT merchant_branding_accent_color_check CHECK ((accent_color ~ '^#[0-9a-f]{6}$'::text)),
    CONSTRAINT merchant_branding_logo_check CHECK ((length(logo) <= 65536)),
    CONSTRAINT merchant_branding_support_check CHECK ((length(support) <= 200))
);
CREATE TABLE public.merchant_members (
    merchant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    role text NOT NULL,
    notified_alerts text DEFAULT 'all'::text NOT NULL,
    notified_weekly boolean DEFAULT true NOT NULL,
    CONSTRAINT merchant_members_notified_alerts_check CHECK ((notified_alerts = ANY (ARRAY['all'::text, 'live'::text, 'none'::text]))),
    CONSTRAINT merchant_members_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'developer'::text, 'support'::text, 'read_only'::text])))
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
    time_zone text DEFAULT 'UTC'::text NOT NULL,
    summary_until timestamp with time zone,
    summary_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT merchants_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT merchants_receiver_live_check CHECK ((length(receiver_live) = 20)),
    CONSTRAINT merchants_receiver_test_check CHECK ((length(receiver_test) = 20)),
    CONSTRAINT merchants_time_zone_check CHECK (((length(time_zone) >= 1) AND (length(time_zone) <= 64))),
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
    role text DEFAULT 'owner'::text NOT NULL,
    CONSTRAINT one_time_links_hash_check CHECK ((length(hash) = 32)),
    CONSTRAINT one_time_links_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'developer'::text, 'support'::text, 'read_only'::text])))
);
CREATE TABLE public.outgoing_transfers (
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
    dropped_at timestamp with time zone,
    CONSTRAINT outgoing_transfers_amount_check CHECK ((amount > (0)::numeric)),
    CONSTRAINT outgoing_transfers_block_hash_check CHECK ((length(block_hash) = 32)),
    CONSTRAINT outgoing_transfers_env_check CHECK ((env = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT outgoing_transfers_ordinal_check CHECK ((ordinal >= 0)),
    CONSTRAINT outgoing_transfers_payer_check CHECK ((length(payer) = 20)),
    CONSTRAINT outgoing_transfers_receiver_check CHECK ((length(receiver) = 20)),
    CONSTRAINT outgoing_transfers_transaction_id_check CHECK ((length(transaction_id) = 32))
);
CREATE TABLE public.passkey_challenges (
    challenge text NOT NULL,
    purpose text NOT NULL,
    user_id uuid,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT passkey_challenges_check CHECK (((user_id IS NULL) = (purpose = 'sign_in'::text))),
    CONSTRAINT passkey_challenges_purpose_check CHECK ((purpose = ANY (ARRAY['add'::text, 'sign_in'::text, 'confirm'::text])))
);
CREATE TABLE public.passkeys (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    credential_id text NOT NULL,
    public_key bytea NOT NULL,
    counter bigint NOT NULL,
    transports text[] NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    CONSTRAINT passkeys_credential_id_check CHECK ((length(credential_id) <= 1400)),
    CONSTRAINT passkeys_name_check CHECK ((length(name) <= 100))
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
    rest_of uuid,
    rest_for uuid,
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
CREATE TABLE public.receipt_mails (
    receipt_id text NOT NULL,
    address_hash bytea NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    CONSTRAINT receipt_mails_address_hash_check CHECK ((length(address_hash) = 32))
);
CREATE TABLE public.receipts (
    id text NOT NULL,
    payment_id uuid NOT NULL,
    jws text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT receipts_id_check CHECK ((length(id) >= 22))
);
CREATE TABLE public.receiver_balances (
    env text NOT NULL,
    address bytea NOT NULL,
    at timestamp with time zone NOT NULL,
    block_number bigint NOT NULL,
    balance numeric(78,0) NOT NULL,
    CONSTRAINT receiver_balances_address_check CHECK ((length(address) = 20)),
    CONSTRAINT receiver_balances_env_check CHECK ((env = ANY (ARRAY['test'::text, 'live'::text])))
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
CREATE TABLE public.recovery_codes (
    user_id uuid NOT NULL,
    hash bytea NOT NULL,
    used_at timestamp with time zone,
    CONSTRAINT recovery_codes_hash_check CHECK ((length(hash) = 32))
);
CREATE TABLE public.refunds (
    id uuid NOT NULL,
    merchant_id uuid NOT NULL,
    env text NOT NULL,
    payment_id uuid,
    transfer_id uuid,
    amount numeric(20,0) NOT NULL,
    recipient bytea NOT NULL,
    since_block bigint NOT NULL,
    beyond_paid boolean NOT NULL,
    reason text,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    status text NOT NULL,
    took_transfer boolean DEFAULT false NOT NULL,
    transaction_id bytea,
    named_at timestamp with time zone,
    sender bytea,
    ordinal integer,
    block_number bigint,
    block_hash bytea,
    proven_at timestamp with time zone,
    ended_at timestamp with time zone,
    failure_reason text,
    dropped_at timestamp with time zone,
    next_look_at timestamp with time zone,
    created_block bigint,
    CONSTRAINT refunds_amount_check CHECK ((amount > (0)::numeric)),
    CONSTRAINT refunds_block_hash_check CHECK ((length(block_hash) = 32)),
    CONSTRAINT refunds_check CHECK ((num_nonnulls(payment_id, transfer_id) = 1)),
    CONSTRAINT refunds_check1 CHECK (((status <> 'proven'::text) OR (num_nonnulls(transaction_id, sender, ordinal, block_number, block_hash, proven_at) = 6))),
    CONSTRAINT refunds_env_check CHECK ((env = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT refunds_ordinal_check CHECK ((ordinal >= 0)),
    CONSTRAINT refunds_reason_check CHECK ((length(reason) <= 500)),
    CONSTRAINT refunds_recipient_check CHECK ((length(recipient) = 20)),
    CONSTRAINT refunds_sender_check CHECK ((length(sender) = 20)),
    CONSTRAINT refunds_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'proven'::text, 'failed'::text, 'cancelled'::text]))),
    CONSTRAINT refunds_transaction_id_check CHECK ((length(transaction_id) = 32))
);
CREATE TABLE public.sessions (
    hash bytea NOT NULL,
    user_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    confirmed_at timestamp with time zone DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    user_agent text,
    address text,
    seen_at timestamp with time zone,
    CONSTRAINT sessions_address_check CHECK ((length(address) <= 64)),
    CONSTRAINT sessions_hash_check CHECK ((length(hash) = 32)),
    CONSTRAINT sessions_user_agent_check CHECK ((length(user_agent) <= 300))
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
    locale text DEFAULT 'en'::text NOT NULL,
    CONSTRAINT users_email_check CHECK (((email = lower(email)) AND (length(email) <= 254))),
    CONSTRAINT users_locale_check CHECK ((locale = ANY (ARRAY['en'::text, 'de'::text, 'es'::text, 'fr'::text, 'pt'::text, 'ja'::text, 'zh'::text, 'ar'::text])))
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
    feed_position bigint,
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
INSERT INTO public.alerts VALUES ('01a2200f-7907-7001-887a-dbdc835da402', '01a2200f-788d-7447-b847-1885ab9041c1', 'live', 'account_change', '01a2200f-7907-7001-887a-dbdc835da402', 'person0@example.com made a full-access secret key (live).', '2026-11-28 02:50:14.643+00', NULL, '01a2200f-7888-7201-8efa-8cdd5928f4cc', NULL, NULL, NULL);
INSERT INTO public.api_keys VALUES ('01a2200f-78ec-76e2-9ffa-e03092985b94', '01a2200f-788d-7447-b847-1885ab9041c1', 'secret', 'live', 'manage', '\xe69d3b037fc57302b9c7b3732ade3c89d708dcfbd435f610ba15af5bfcb6554b', 'sk_live_', '9P2t', '2026-11-28 02:50:14.636+00', NULL, NULL, NULL, NULL);
INSERT INTO public.api_keys VALUES ('01a2200f-7927-7582-af33-278a2a4c0834', '01a2200f-788d-7447-b847-1885ab9041c1', 'publishable', 'live', 'read', '\xb8d6c14d200a45e4413a3c18194cde6ad0d149ad69f623ce781a014dece758e9', 'pk_live_', 'Sv0Q', '2026-11-28 02:50:14.695+00', NULL, NULL, NULL, 'pk_live_QtH0aryH2IpeN1R0k81kur7LZiVL2A4c9UadTOYAz1f17Sv0Q');
INSERT INTO public.api_keys VALUES ('01a2200f-7892-7247-907f-7c51169d6f96', '01a2200f-788d-7447-b847-1885ab9041c1', 'secret', 'test', 'manage', '\xbd618b5c1e6408a890c9bb74e1129cf360ade6686c0330a4062b0eef234995ad', 'sk_test_', 'IHOj', '2026-11-28 02:50:14.547+00', '2026-11-28 02:50:26.808+00', NULL, NULL, NULL);
INSERT INTO public.api_keys VALUES ('01a2200f-7893-745c-bb73-c8927bcf1af6', '01a2200f-788d-7447-b847-1885ab9041c1', 'publishable', 'test', 'read', '\xe25bafbd52c628e682a313e5c6a2ff892b19e31634cc8fcc8b52a1b2a715000f', 'pk_test_', 'vtvF', '2026-11-28 02:50:14.547+00', '2026-11-28 02:50:26.808+00', NULL, NULL, 'pk_test_Ie4T4J9azD5yknJaH8AI8AoZ9SZqzMPY7yWd9jLe4BY4GvtvF');
INSERT INTO public.audit_entries VALUES (1, '01a2200f-788d-7447-b847-1885ab9041c1', 'live', '2026-11-28 02:50:14.643+00', '01a2200f-7888-7201-8efa-8cdd5928f4cc', 'person0@example.com', 'key.created', 'made a full-access secret key', '\x47611bdf23665363ed29e83756ec8787ef10fa76af7ea58c9e20316e9fee72e1');
INSERT INTO public.audit_entries VALUES (2, '01a2200f-788d-7447-b847-1885ab9041c1', 'live', '2026-11-28 02:50:14.695+00', '01a2200f-7888-7201-8efa-8cdd5928f4cc', 'person0@example.com', 'key.created', 'made a publishable key', '\xb829392a098a59d827e41af351178de76962920f9953f63e8ffc187a917e1959');
INSERT INTO public.chain_cursors VALUES (84532, 12, '\x4ff32cb1e9c89081d350e22947662cc9dade33b21afd3f5cd728d04c8a0e014a', '2026-11-28 02:50:22+00', NULL, NULL);
INSERT INTO public.claimed_transfers VALUES (84532, '\xd27adabe267aa0cecb191cefc9f4060a2b8dab54925d71751b7115c34ffeb6fa', 0, '01a2200f-7984-7423-99bf-bd41a3bd4862', 6, '\x521c565b8d86a541fa2ee721cc2db6fdf81372eceb4f638e4a5ba115d61e20a0', '2026-11-28 02:51:17.471+00', NULL, '\xf8b9e0184446d60b4745780d462bfbedc1f43865', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 10000000, 0, NULL);
INSERT INTO public.claimed_transfers VALUES (84532, '\xf7657e05a584d5e3521747591d6cf2a1d307ad048e45e2a001ec3bc525c51a1f', 0, '01a2200f-8463-7726-9b5e-88133ba8ddb5', 9, '\x7f1fbc4430aeb55a0d2cdd7cbbd4f08704f7afe1e3b32707e75b211733f55dc2', '2026-11-28 02:51:20.763+00', NULL, '\x6fad1313f14400cd3724da4faec4c1c5ecf88df7', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 2500000, 0, NULL);
INSERT INTO public.claimed_transfers VALUES (84532, '\xc5164d38dd7bb6bdeb983fa3707231daca3667036d13bb25b463ed31099d00dc', 0, '01a2200f-9180-72eb-9688-f3335e9ca594', 12, '\x4ff32cb1e9c89081d350e22947662cc9dade33b21afd3f5cd728d04c8a0e014a', '2026-11-28 02:51:23.731+00', NULL, '\xa3e65a6c4c4c639a4d4f3a732f00c85c4ec93be2', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 1110000, 0, NULL);
INSERT INTO public.effect_sql_migrations VALUES (1, '2026-11-28 02:50:12.778025+00', 'initial');
INSERT INTO public.incoming_transfers VALUES ('01a2200f-8a28-758a-918c-182f3eb92cba', 84532, '\xd27adabe267aa0cecb191cefc9f4060a2b8dab54925d71751b7115c34ffeb6fa', '\xf8b9e0184446d60b4745780d462bfbedc1f43865', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 10000000, 0, '01a2200f-788d-7447-b847-1885ab9041c1', 'test', 6, '\x521c565b8d86a541fa2ee721cc2db6fdf81372eceb4f638e4a5ba115d61e20a0', '2026-11-28 02:50:16+00', NULL, '01a2200f-7984-7423-99bf-bd41a3bd4862', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-28 02:50:19.048+00', DEFAULT);
INSERT INTO public.incoming_transfers VALUES ('01a2200f-9250-77ad-879a-6a1424b738c1', 84532, '\xf7657e05a584d5e3521747591d6cf2a1d307ad048e45e2a001ec3bc525c51a1f', '\x6fad1313f14400cd3724da4faec4c1c5ecf88df7', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 2500000, 0, '01a2200f-788d-7447-b847-1885ab9041c1', 'test', 9, '\x7f1fbc4430aeb55a0d2cdd7cbbd4f08704f7afe1e3b32707e75b211733f55dc2', '2026-11-28 02:50:19+00', NULL, '01a2200f-8463-7726-9b5e-88133ba8ddb5', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-28 02:50:21.136+00', DEFAULT);
INSERT INTO public.incoming_transfers VALUES ('01a2200f-9e4c-7680-a487-46a2b0135b39', 84532, '\xc5164d38dd7bb6bdeb983fa3707231daca3667036d13bb25b463ed31099d00dc', '\xa3e65a6c4c4c639a4d4f3a732f00c85c4ec93be2', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 1110000, 0, '01a2200f-788d-7447-b847-1885ab9041c1', 'test', 12, '\x4ff32cb1e9c89081d350e22947662cc9dade33b21afd3f5cd728d04c8a0e014a', '2026-11-28 02:50:22+00', NULL, '01a2200f-9180-72eb-9688-f3335e9ca594', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-28 02:50:24.204+00', DEFAULT);
INSERT INTO public.known_browsers VALUES ('\x5a956d9d6aed9f62d6ef07ec482d9ef7a88752fe195034f32aa13a6af9c28131', '01a2200f-7888-7201-8efa-8cdd5928f4cc', '2026-11-28 02:50:14.599+00', '2027-11-28 02:50:14.599+00');
INSERT INTO public.merchant_members VALUES ('01a2200f-788d-7447-b847-1885ab9041c1', '01a2200f-7888-7201-8efa-8cdd5928f4cc', '2026-11-28 02:50:14.536+00', 'owner', 'all', true);
INSERT INTO public.merchant_receivers VALUES ('test', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', '01a2200f-788d-7447-b847-1885ab9041c1', '2026-11-28 02:50:14.557+00', '2026-11-28 02:50:14.557+00');
INSERT INTO public.merchant_receivers VALUES ('live', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', '01a2200f-788d-7447-b847-1885ab9041c1', '2026-11-28 02:50:14.564+00', '2026-11-28 02:50:14.564+00');
INSERT INTO public.merchants VALUES ('01a2200f-788d-7447-b847-1885ab9041c1', 'Shop', NULL, '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', NULL, '2026-11-28 02:50:14.547+00', false, 86400, '{}', 'UTC', '2026-11-23 00:00:00+00', '2026-11-30 08:00:00+00');
INSERT INTO public.payment_links VALUES ('ehX1-uF3Q_U22JQhSYyZrFnq', '01a2200f-788d-7447-b847-1885ab9041c1', 'test', 'pk_test_Ie4T4J9azD5yknJaH8AI8AoZ9SZqzMPY7yWd9jLe4BY4GvtvF', 'A book', 7000000, NULL, NULL, false, NULL, '2026-11-28 02:50:20.811+00', NULL, NULL, NULL, NULL);
INSERT INTO public.payment_verdicts VALUES ('01a2200f-7984-7423-99bf-bd41a3bd4862', '2026-11-28 02:50:15.549+00', '\x3c25e8389dfbe3abbbcf4e9df51d09c050c5fb04d1f5d14703327b6513b76f8c', '2026-11-28 02:50:15.516+00', '\xd27adabe267aa0cecb191cefc9f4060a2b8dab54925d71751b7115c34ffeb6fa', '\xf8b9e0184446d60b4745780d462bfbedc1f43865', 'not_found', NULL, NULL);
INSERT INTO public.payment_verdicts VALUES ('01a2200f-7984-7423-99bf-bd41a3bd4862', '2026-11-28 02:50:16.93+00', '\x3c25e8389dfbe3abbbcf4e9df51d09c050c5fb04d1f5d14703327b6513b76f8c', '2026-11-28 02:50:16.906+00', '\xd27adabe267aa0cecb191cefc9f4060a2b8dab54925d71751b7115c34ffeb6fa', '\xf8b9e0184446d60b4745780d462bfbedc1f43865', 'confirmations', NULL, NULL);
INSERT INTO public.payment_verdicts VALUES ('01a2200f-8463-7726-9b5e-88133ba8ddb5', '2026-11-28 02:50:18.495+00', '\xfbd90271a09a9eab15c88d03be2783ad41f2da2bd3520d0fdd7fc28d1e266972', '2026-11-28 02:50:18.477+00', '\xf7657e05a584d5e3521747591d6cf2a1d307ad048e45e2a001ec3bc525c51a1f', '\x6fad1313f14400cd3724da4faec4c1c5ecf88df7', 'not_found', NULL, NULL);
INSERT INTO public.payment_verdicts VALUES ('01a2200f-8463-7726-9b5e-88133ba8ddb5', '2026-11-28 02:50:19.908+00', '\xfbd90271a09a9eab15c88d03be2783ad41f2da2bd3520d0fdd7fc28d1e266972', '2026-11-28 02:50:19.888+00', '\xf7657e05a584d5e3521747591d6cf2a1d307ad048e45e2a001ec3bc525c51a1f', '\x6fad1313f14400cd3724da4faec4c1c5ecf88df7', 'confirmations', NULL, NULL);
INSERT INTO public.payment_verdicts VALUES ('01a2200f-9180-72eb-9688-f3335e9ca594', '2026-11-28 02:50:21.475+00', '\x3b7674de2ec12582eb5d36f1c753c3519eedaf2787c61dde31394b08681d87d3', '2026-11-28 02:50:21.465+00', '\xc5164d38dd7bb6bdeb983fa3707231daca3667036d13bb25b463ed31099d00dc', '\xa3e65a6c4c4c639a4d4f3a732f00c85c4ec93be2', 'not_found', NULL, NULL);
INSERT INTO public.payment_verdicts VALUES ('01a2200f-9180-72eb-9688-f3335e9ca594', '2026-11-28 02:50:22.927+00', '\x3b7674de2ec12582eb5d36f1c753c3519eedaf2787c61dde31394b08681d87d3', '2026-11-28 02:50:22.837+00', '\xc5164d38dd7bb6bdeb983fa3707231daca3667036d13bb25b463ed31099d00dc', '\xa3e65a6c4c4c639a4d4f3a732f00c85c4ec93be2', 'confirmations', NULL, NULL);
INSERT INTO public.payments VALUES ('01a2200f-7984-7423-99bf-bd41a3bd4862', '01a2200f-788d-7447-b847-1885ab9041c1', 'test', 'settled', 10000000, 'PAY-47IHXWZ5', 'http://localhost:24653/playground', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 'human', '2026-11-28 02:50:14.798+00', '2026-11-28 02:50:17.451+00', '\xd27adabe267aa0cecb191cefc9f4060a2b8dab54925d71751b7115c34ffeb6fa', '\xf8b9e0184446d60b4745780d462bfbedc1f43865', '[{"chainId": 84532, "receiver": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc", "amountAtomic": "10000000", "tokenAddress": "0x036CbD53842c5426634e7929541eC2318f3dCF7e"}]', '2026-11-28 02:50:17.471+00', NULL, NULL, 2, NULL);
INSERT INTO public.payments VALUES ('01a2200f-8463-7726-9b5e-88133ba8ddb5', '01a2200f-788d-7447-b847-1885ab9041c1', 'test', 'settled', 2500000, 'PAY-91FKZQKS', 'http://localhost:24653/playground', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 'human', '2026-11-28 02:50:17.575+00', '2026-11-28 02:50:20.748+00', '\xf7657e05a584d5e3521747591d6cf2a1d307ad048e45e2a001ec3bc525c51a1f', '\x6fad1313f14400cd3724da4faec4c1c5ecf88df7', '[{"chainId": 84532, "receiver": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc", "amountAtomic": "2500000", "tokenAddress": "0x036CbD53842c5426634e7929541eC2318f3dCF7e"}]', '2026-11-28 02:50:20.763+00', NULL, NULL, 2, NULL);
INSERT INTO public.payments VALUES ('01a2200f-9180-72eb-9688-f3335e9ca594', '01a2200f-788d-7447-b847-1885ab9041c1', 'test', 'settled', 1110000, 'PAY-M06WY78U', 'http://localhost:24653/playground', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 'human', '2026-11-28 02:50:20.934+00', '2026-11-28 02:50:23.722+00', '\xc5164d38dd7bb6bdeb983fa3707231daca3667036d13bb25b463ed31099d00dc', '\xa3e65a6c4c4c639a4d4f3a732f00c85c4ec93be2', '[{"chainId": 84532, "receiver": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc", "amountAtomic": "1110000", "tokenAddress": "0x036CbD53842c5426634e7929541eC2318f3dCF7e"}]', '2026-11-28 02:50:23.731+00', NULL, NULL, 8, NULL);
INSERT INTO public.receipt_keys VALUES ('01a2200f-9157-713b-a1fc-2d0bf015f503', '{"crv":"P-256","kty":"EC","x":"LcGPcpepVmKOUfu1RAc2AVs3lnEDJqFtC8fMTAk940c","y":"BhbBnfyrLRrxxUflKQJ3XrnztHjJ7f-su17d_JrBwwY","kid":"01a2200f-9157-713b-a1fc-2d0bf015f503","alg":"ES256","use":"sig"}', 'test', '\x2a2bfa739d678c611f7d6feec1d2e4529fc1c975a975c608ee6b35d6c991d115310fe49db566cd8e1d2fd9c83dece882a672ab6eaa27334d1f53e30ea93ddf377c99296928575741441d714a64284cc00cfd0f598578270fd36e67102a4ba160080d63f9c4531336a2744830027a6f67b6ceb50ee35bab9b3aa3a03b718175275cc0bb62f46de551aec400ccefec4d761af70bfc17a60af8c34a4c5edfc1d1da687d035284949ee69d7be21b6028ecfdc74b2ed77a2d36ac10ee9513d3464384dc9b44fbd49fcc6842511578', '2026-11-28 02:50:20.888+00');
INSERT INTO public.receipts VALUES ('Hxo1C1HMcZkO9awL3IxCmee3', '01a2200f-7984-7423-99bf-bd41a3bd4862', 'eyJhbGciOiJFUzI1NiIsImtpZCI6IjAxYTIyMDBmLTkxNTctNzEzYi1hMWZjLTJkMGJmMDE1ZjUwMyIsInR5cCI6InJlY2VpcHQrandzIn0.eyJpc3MiOiJodHRwOi8vbG9jYWxob3N0Ojg3ODciLCJqdGkiOiJIeG8xQzFITWNaa085YXdMM0l4Q21lZTMiLCJpYXQiOjE3OTU4MzQyMTcsInBheW1lbnRJZCI6IjAxYTIyMDBmLTc5ODQtNzQyMy05OWJmLWJkNDFhM2JkNDg2MiIsInJlZkNvZGUiOiJQQVktNDdJSFhXWjUiLCJtZXJjaGFudCI6IlNob3AiLCJhbW91bnQiOiIxMC4wMCIsImN1cnJlbmN5IjoiVVNEIiwiZW52IjoidGVzdCIsInNldHRsZWRBdCI6IjIwMjYtMTEtMjhUMDI6NTA6MTcuNDcxWiIsInBheWVyIjoiMHhmOEI5RTAxODQ0NDZkNjBCNDc0NTc4MGQ0NjJCZkJFREMxRjQzODY1IiwicmVjZWl2ZXIiOiIweDk5NjU1MDdEMWE1NWJjQzI2OTVDNThiYTE2RkIzN2Q4MTlCMEE0ZGMiLCJ0cmFuc2FjdGlvbklkIjoiMHhkMjdhZGFiZTI2N2FhMGNlY2IxOTFjZWZjOWY0MDYwYTJiOGRhYjU0OTI1ZDcxNzUxYjcxMTVjMzRmZmViNmZhIiwidG9rZW4iOnsiYWRkcmVzcyI6IjB4MDM2Q2JENTM4NDJjNTQyNjYzNGU3OTI5NTQxZUMyMzE4ZjNkQ0Y3ZSIsImNoYWluSWQiOjg0NTMyfX0.gUtG-yei2QOQpksRXpGFeETkQ-NDxL1MTMmEMjOpg6EsYA-BxCPqlnif1LhmLSD9BtPsyEgVqtbdtGsIoVJg4Q', '2026-11-28 02:50:20.902+00');
INSERT INTO public.sessions VALUES ('\x3217894ab73bf242cbe7ed7544b1f6fefe74a5e5bb6a701eb0e271dad85dd8de', '01a2200f-7888-7201-8efa-8cdd5928f4cc', '2026-11-28 02:50:14.571+00', '2026-12-05 02:50:14.571+00', '2026-11-28 02:50:14.571+00', '201f44a7-8989-4feb-a73f-285fc7691ec3', 'Bun/1.4.5', '127.0.0.1', '2026-11-28 02:50:14.617+00');
INSERT INTO public.users VALUES ('01a2200f-7888-7201-8efa-8cdd5928f4cc', 'person0@example.com', '$argon2id$v=19$m=65536,t=2,p=1$AnE1GzROTAxtochRMKjgjrOOLTEtcYxZALLXdXcVn6Q$phFGywi75EXNaeR2zj2iH/ghSHMtMEvtnKK0dWVJjqU', false, '2026-11-28 02:50:14.536+00', 'en');
INSERT INTO public.webhook_attempts VALUES ('04124632-1da0-8e11-aa32-b0528059ac9e', 1, false, '2026-11-28 02:50:17.515+00', 13, 200, NULL, NULL, 'POST /hooks HTTP/1.1
host: 127.0.0.1:43783
user-agent: Quittance-Webhooks/1
accept: */*
accept-encoding: identity
content-type: application/json
content-length: 349
x-service-signature: t=1795834217,v1=6757cd8f6221ce71332c49d5ab15bbaac28f599794e073d303b9e460447ad938
webhook-id: 04124632-1da0-8e11-aa32-b0528059ac9e
webhook-timestamp: 1795834217
webhook-signature: v1,tb+nQVZ3g0cH+TMCfuEYvM5M/lWqc49xoeL3dn49Luk=
quittance-payment-id: 01a2200f-7984-7423-99bf-bd41a3bd4862
quittance-intent-url: http://localhost:24653/playground
quittance-order-signature: t=1795834217,v1=8aa5ef443ceab2f798fd2e44d7c78691222152acdb70d035d2adce52bfb3bfe1');
INSERT INTO public.webhook_attempts VALUES ('df843deb-4750-8efc-9035-7ee045ed90fd', 1, false, '2026-11-28 02:50:20.775+00', 4, 200, NULL, NULL, 'POST /hooks HTTP/1.1
host: 127.0.0.1:43783
user-agent: Quittance-Webhooks/1
accept: */*
accept-encoding: identity
content-type: application/json
content-length: 348
x-service-signature: t=1795834220,v1=aab1b809c63148774974f4f0472b9d8f4bffa2abe4ddfc40dd16e3949329b9a3
webhook-id: df843deb-4750-8efc-9035-7ee045ed90fd
webhook-timestamp: 1795834220
webhook-signature: v1,wnDa0zVT4l9Lw/tXj47AGDahxSHC63KntgVwFFUNWCk=
quittance-payment-id: 01a2200f-8463-7726-9b5e-88133ba8ddb5
quittance-intent-url: http://localhost:24653/playground
quittance-order-signature: t=1795834220,v1=92912f2d1db1ed7b46ee885d2006c80cf0bb7a6081ffe6c0229cb521801e8f44');
INSERT INTO public.webhook_attempts VALUES ('76678aba-aa3e-8bc7-bac4-7dc4892dee50', 1, false, '2026-11-28 02:50:23.744+00', 2, 500, 'status', NULL, 'POST /hooks HTTP/1.1
host: 127.0.0.1:43783
user-agent: Quittance-Webhooks/1
accept: */*
accept-encoding: identity
content-type: application/json
content-length: 348
x-service-signature: t=1795834223,v1=d70d7af641ce1b764efe54ffc9669447581520b631334ff3509ab07994c5a0fc
webhook-id: 76678aba-aa3e-8bc7-bac4-7dc4892dee50
webhook-timestamp: 1795834223
webhook-signature: v1,8VB1MBPqtXpdcvJ8z/0sGd7ZQiMHIRlgzCpt8tUtBDk=
quittance-payment-id: 01a2200f-9180-72eb-9688-f3335e9ca594
quittance-intent-url: http://localhost:24653/playground
quittance-order-signature: t=1795834223,v1=ff164d8f69a004b2f551e5faeb42dbdd616652d49fb026553d0835cc6286d29d');
INSERT INTO public.webhook_deliveries VALUES ('04124632-1da0-8e11-aa32-b0528059ac9e', '01a2200f-788d-7447-b847-1885ab9041c1', 'test', '01a2200f-7941-7337-a075-8f7e04456e0e', '01a2200f-7984-7423-99bf-bd41a3bd4862', 'payment.settled', '\x7b226964223a2230343132343633322d316461302d386531312d616133322d623035323830353961633965222c2274797065223a227061796d656e742e736574746c6564222c226c6976656d6f6465223a66616c73652c227472616e73616374696f6e4964223a22307864323761646162653236376161306365636231393163656663396634303630613262386461623534393235643731373531623731313563333466666562366661222c22746f6b656e4368616e676573223a5b7b22616d6f756e7441746f6d6963223a223130303030303030222c22636861696e4964223a38343533322c227265636569766572223a22307839393635353037443161353562634332363935433538626131364642333764383139423041346463222c22746f6b656e41646472657373223a22307830333643624435333834326335343236363334653739323935343165433233313866336443463765227d5d7d', 'delivered', 1, 0, NULL, NULL, NULL, '2026-11-28 02:50:17.471+00', '2026-11-28 02:50:17.549+00', '01a2200f-74a7-7135-bbbc-031bd912f363', 1);
INSERT INTO public.webhook_deliveries VALUES ('df843deb-4750-8efc-9035-7ee045ed90fd', '01a2200f-788d-7447-b847-1885ab9041c1', 'test', '01a2200f-7941-7337-a075-8f7e04456e0e', '01a2200f-8463-7726-9b5e-88133ba8ddb5', 'payment.settled', '\x7b226964223a2264663834336465622d343735302d386566632d393033352d376565303435656439306664222c2274797065223a227061796d656e742e736574746c6564222c226c6976656d6f6465223a66616c73652c227472616e73616374696f6e4964223a22307866373635376530356135383464356533353231373437353931643663663261316433303761643034386534356532613030316563336263353235633531613166222c22746f6b656e4368616e676573223a5b7b22616d6f756e7441746f6d6963223a2232353030303030222c22636861696e4964223a38343533322c227265636569766572223a22307839393635353037443161353562634332363935433538626131364642333764383139423041346463222c22746f6b656e41646472657373223a22307830333643624435333834326335343236363334653739323935343165433233313866336443463765227d5d7d', 'delivered', 1, 0, NULL, NULL, NULL, '2026-11-28 02:50:20.763+00', '2026-11-28 02:50:20.795+00', '01a2200f-74a7-7135-bbbc-031bd912f363', 2);
INSERT INTO public.webhook_deliveries VALUES ('76678aba-aa3e-8bc7-bac4-7dc4892dee50', '01a2200f-788d-7447-b847-1885ab9041c1', 'test', '01a2200f-7941-7337-a075-8f7e04456e0e', '01a2200f-9180-72eb-9688-f3335e9ca594', 'payment.settled', '\x7b226964223a2237363637386162612d616133652d386263372d626163342d376463343839326465653530222c2274797065223a227061796d656e742e736574746c6564222c226c6976656d6f6465223a66616c73652c227472616e73616374696f6e4964223a22307863353136346433386464376262366264656239383366613337303732333164616361333636373033366431336262323562343633656433313039396430306463222c22746f6b656e4368616e676573223a5b7b22616d6f756e7441746f6d6963223a2231313130303030222c22636861696e4964223a38343533322c227265636569766572223a22307839393635353037443161353562634332363935433538626131364642333764383139423041346463222c22746f6b656e41646472657373223a22307830333643624435333834326335343236363334653739323935343165433233313866336443463765227d5d7d', 'pending', 1, 0, '2026-11-28 02:51:23.757+00', NULL, NULL, '2026-11-28 02:50:23.731+00', NULL, '01a2200f-74a7-7135-bbbc-031bd912f363', 3);
INSERT INTO public.webhook_endpoints VALUES ('01a2200f-7941-7337-a075-8f7e04456e0e', '01a2200f-788d-7447-b847-1885ab9041c1', 'test', 'http://127.0.0.1:43783/hooks', 'test', '\x8c9abbf1bc584c006454984be5fd780e711ac7ce5ecdb472bab52fd392fdf5fc2b26dfedcfa9ee89aec0c7f163ec2b06f2f159b851f77edd741daf1232522de81eadc79633342851149cb472e640', '740=', true, true, '2026-11-28 02:50:20.795+00', '2026-11-28 02:50:17.549+00', '2026-11-28 02:50:14.726+00', '2026-11-28 02:50:14.726+00', NULL);
SELECT pg_catalog.setval('public.agents_wallet_index_seq', 1, false);
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
ALTER TABLE ONLY public.alert_hooks
    ADD CONSTRAINT alert_hooks_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.alert_posts
    ADD CONSTRAINT alert_posts_pkey PRIMARY KEY (hook_id, alert_id);
ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT alerts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_hash_key UNIQUE (hash);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.audit_entries
    ADD CONSTRAINT audit_entries_pkey PRIMARY KEY ("position");
ALTER TABLE ONLY public.authenticators
    ADD CONSTRAINT authenticators_pkey PRIMARY KEY (user_id);
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
ALTER TABLE ONLY public.incoming_transfers
    ADD CONSTRAINT incoming_transfers_chain_id_transaction_id_payer_receiver_a_key UNIQUE (chain_id, transaction_id, payer, receiver, amount, ordinal);
ALTER TABLE ONLY public.incoming_transfers
    ADD CONSTRAINT incoming_transfers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.known_browsers
    ADD CONSTRAINT known_browsers_pkey PRIMARY KEY (hash);
ALTER TABLE ONLY public.mails
    ADD CONSTRAINT mails_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.merchant_branding
    ADD CONSTRAINT merchant_branding_pkey PRIMARY KEY (merchant_id);
ALTER TABLE ONLY public.merchant_members
    ADD CONSTRAINT merchant_members_pkey PRIMARY KEY (merchant_id, user_id);
ALTER TABLE ONLY public.merchant_receivers
    ADD CONSTRAINT merchant_receivers_pkey PRIMARY KEY (env, address);
ALTER TABLE ONLY public.merchants
    ADD CONSTRAINT merchants_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.one_time_links
    ADD CONSTRAINT one_time_links_pkey PRIMARY KEY (hash);
ALTER TABLE ONLY public.outgoing_transfers
    ADD CONSTRAINT outgoing_transfers_pkey PRIMARY KEY (chain_id, transaction_id, payer, receiver, amount, ordinal);
ALTER TABLE ONLY public.passkey_challenges
    ADD CONSTRAINT passkey_challenges_pkey PRIMARY KEY (challenge);
ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT passkeys_credential_id_key UNIQUE (credential_id);
ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT passkeys_pkey PRIMARY KEY (id);
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
ALTER TABLE ONLY public.receipt_mails
    ADD CONSTRAINT receipt_mails_pkey PRIMARY KEY (receipt_id, address_hash);
ALTER TABLE ONLY public.receipts
    ADD CONSTRAINT receipts_payment_id_key UNIQUE (payment_id);
ALTER TABLE ONLY public.receipts
    ADD CONSTRAINT receipts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.receiver_balances
    ADD CONSTRAINT receiver_balances_pkey PRIMARY KEY (env, address, at);
ALTER TABLE ONLY public.receiver_changes
    ADD CONSTRAINT receiver_changes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, hash);
ALTER TABLE ONLY public.refunds
    ADD CONSTRAINT refunds_pkey PRIMARY KEY (id);
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
CREATE INDEX alert_hooks_merchant ON public.alert_hooks USING btree (merchant_id, env);
CREATE INDEX alert_posts_alert ON public.alert_posts USING btree (alert_id);
CREATE INDEX alert_posts_due ON public.alert_posts USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX alerts_newest ON public.alerts USING btree (merchant_id, env, created_at DESC);
CREATE UNIQUE INDEX alerts_open ON public.alerts USING btree (kind, subject) WHERE (acknowledged_at IS NULL);
CREATE INDEX alerts_open_newest ON public.alerts USING btree (merchant_id, env, created_at DESC) WHERE (acknowledged_at IS NULL);
CREATE INDEX alerts_subject ON public.alerts USING btree (kind, subject);
CREATE INDEX alerts_to_notify ON public.alerts USING btree (notify_at) WHERE (notify_at IS NOT NULL);
CREATE INDEX api_keys_merchant ON public.api_keys USING btree (merchant_id, env, created_at);
CREATE INDEX audit_entries_merchant ON public.audit_entries USING btree (merchant_id, "position" DESC);
CREATE INDEX claimed_transfers_dropped ON public.claimed_transfers USING btree (payment_id) WHERE (dropped_at IS NOT NULL);
CREATE INDEX claimed_transfers_watched ON public.claimed_transfers USING btree (watch_at) WHERE (watch_at IS NOT NULL);
CREATE INDEX faucet_grants_client ON public.faucet_grants USING btree (client_address, created_at) WHERE (status <> 'returned'::text);
CREATE INDEX faucet_grants_merchant ON public.faucet_grants USING btree (merchant_id, created_at) WHERE (status <> 'returned'::text);
CREATE INDEX faucet_grants_recipient ON public.faucet_grants USING btree (recipient, created_at) WHERE (status <> 'returned'::text);
CREATE INDEX incoming_transfers_block ON public.incoming_transfers USING btree (chain_id, block_number);
CREATE INDEX incoming_transfers_newest ON public.incoming_transfers USING btree (merchant_id, env, block_time DESC, id DESC);
CREATE INDEX incoming_transfers_open ON public.incoming_transfers USING btree (merchant_id, env, block_time DESC, id DESC) WHERE ((payment_id IS NULL) AND (dropped_at IS NULL));
CREATE INDEX incoming_transfers_payer ON public.incoming_transfers USING btree (payer, receiver, amount) WHERE ((payment_id IS NULL) AND (dropped_at IS NULL));
CREATE INDEX incoming_transfers_unmatched ON public.incoming_transfers USING btree (match_at) WHERE (match_at IS NOT NULL);
CREATE INDEX known_browsers_expired ON public.known_browsers USING btree (expires_at);
CREATE INDEX known_browsers_user ON public.known_browsers USING btree (user_id);
CREATE INDEX mails_due ON public.mails USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX mails_ended ON public.mails USING btree (created_at) WHERE (due_at IS NULL);
CREATE INDEX merchant_members_user ON public.merchant_members USING btree (user_id);
CREATE INDEX merchant_receivers_merchant ON public.merchant_receivers USING btree (merchant_id, env);
CREATE INDEX merchants_summary ON public.merchants USING btree (summary_at);
CREATE INDEX one_time_links_email ON public.one_time_links USING btree (email) WHERE (used_at IS NULL);
CREATE INDEX one_time_links_expired ON public.one_time_links USING btree (expires_at);
CREATE INDEX one_time_links_merchant ON public.one_time_links USING btree (merchant_id, created_at);
CREATE INDEX outgoing_transfers_block ON public.outgoing_transfers USING btree (chain_id, block_number);
CREATE INDEX outgoing_transfers_newest ON public.outgoing_transfers USING btree (merchant_id, env, block_time, transaction_id);
CREATE INDEX outgoing_transfers_receiver ON public.outgoing_transfers USING btree (receiver, amount);
CREATE INDEX passkey_challenges_expired ON public.passkey_challenges USING btree (expires_at);
CREATE INDEX passkeys_user ON public.passkeys USING btree (user_id);
CREATE UNIQUE INDEX payment_attempts_open ON public.payment_attempts USING btree (payment_id, payer_address) WHERE (closed_at IS NULL);
CREATE INDEX payment_attempts_payer ON public.payment_attempts USING btree (payer_address, announced_at);
CREATE INDEX payment_attempts_payment ON public.payment_attempts USING btree (payment_id, announced_at);
CREATE INDEX payment_links_newest ON public.payment_links USING btree (merchant_id, env, created_at DESC, id DESC);
CREATE UNIQUE INDEX payment_links_rest ON public.payment_links USING btree (rest_of) WHERE ((rest_of IS NOT NULL) AND (closed_at IS NULL));
CREATE INDEX payment_links_rests ON public.payment_links USING btree (rest_of) WHERE (rest_of IS NOT NULL);
CREATE INDEX payment_reports_due ON public.payment_reports USING btree (next_check_at) WHERE (next_check_at IS NOT NULL);
CREATE INDEX payment_reports_ended ON public.payment_reports USING btree (reported_at) WHERE (next_check_at IS NULL);
CREATE INDEX payment_reports_payer ON public.payment_reports USING btree (payer_address) WHERE (next_check_at IS NOT NULL);
CREATE INDEX payment_reports_transaction ON public.payment_reports USING btree (transaction_id);
CREATE INDEX payment_verdicts_payment ON public.payment_verdicts USING btree (payment_id, at);
CREATE INDEX payments_amount ON public.payments USING btree (merchant_id, env, amount, created_at, id);
CREATE INDEX payments_failed ON public.payments USING btree (merchant_id, env, failed_at) WHERE (status = 'failed'::text);
CREATE INDEX payments_intent_url ON public.payments USING btree (merchant_id, env, hashtextextended(intent_url, (0)::bigint), created_at DESC, id DESC);
CREATE INDEX payments_newest ON public.payments USING btree (merchant_id, env, created_at DESC, id DESC);
CREATE INDEX payments_order ON public.payments USING btree (merchant_id, env, "left"(intent_url, 300) text_pattern_ops);
CREATE INDEX payments_payer ON public.payments USING btree (merchant_id, env, payer_address) WHERE (payer_address IS NOT NULL);
CREATE INDEX payments_pending ON public.payments USING btree (created_at) WHERE (status = 'pending'::text);
CREATE INDEX payments_settled ON public.payments USING btree (merchant_id, env, settled_at) INCLUDE (amount) WHERE (status = 'settled'::text);
CREATE INDEX payments_status_newest ON public.payments USING btree (merchant_id, env, status, created_at DESC, id DESC);
CREATE INDEX payments_transaction ON public.payments USING btree (transaction_id) WHERE (transaction_id IS NOT NULL);
CREATE INDEX receiver_changes_due ON public.receiver_changes USING btree (due_at) WHERE (ended_at IS NULL);
CREATE UNIQUE INDEX receiver_changes_open ON public.receiver_changes USING btree (merchant_id, env) WHERE (ended_at IS NULL);
CREATE INDEX refunds_due ON public.refunds USING btree (next_look_at) WHERE (next_look_at IS NOT NULL);
CREATE INDEX refunds_newest ON public.refunds USING btree (merchant_id, env, created_at DESC, id DESC);
CREATE INDEX refunds_payment ON public.refunds USING btree (payment_id) WHERE (payment_id IS NOT NULL);
CREATE INDEX refunds_proven ON public.refunds USING btree (merchant_id, env, proven_at, id) WHERE (status = 'proven'::text);
CREATE INDEX refunds_transaction ON public.refunds USING btree (transaction_id) WHERE (transaction_id IS NOT NULL);
CREATE INDEX refunds_transfer ON public.refunds USING btree (transfer_id) WHERE (transfer_id IS NOT NULL);
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
CREATE INDEX webhook_deliveries_placed ON public.webhook_deliveries USING btree (merchant_id, env, feed_position) WHERE (feed_position IS NOT NULL);
CREATE INDEX webhook_deliveries_unplaced ON public.webhook_deliveries USING btree (merchant_id, env, created_at, id) WHERE (feed_position IS NULL);
CREATE UNIQUE INDEX webhook_endpoints_active ON public.webhook_endpoints USING btree (merchant_id, env) WHERE (deleted_at IS NULL);
CREATE INDEX x402_settlements_due ON public.x402_settlements USING btree (next_look_at) WHERE (next_look_at IS NOT NULL);
CREATE INDEX x402_settlements_of_payment ON public.x402_settlements USING btree (payment_id);
CREATE UNIQUE INDEX x402_settlements_reserves ON public.x402_settlements USING btree (payment_id) WHERE ((status <> 'failed'::text) AND reserves);
CREATE INDEX x402_settlements_transaction ON public.x402_settlements USING btree (transaction_id) WHERE (transaction_id IS NOT NULL);
CREATE TRIGGER audit_entries_stay BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_entries FOR EACH STATEMENT EXECUTE FUNCTION public.audit_entries_stay();
ALTER TABLE public.audit_entries ENABLE ALWAYS TRIGGER audit_entries_stay;
CREATE TRIGGER claimed_transfers_created AFTER INSERT ON public.claimed_transfers FOR EACH ROW WHEN ((NOT (((
        CASE
            WHEN (new.dropped_at IS NULL) THEN 'held'::text
            ELSE 'dropped'::text
        END = 'held'::text) AND (new.payment_id IS NOT NULL)) OR ((
        CASE
            WHEN (new.dropped_at IS NULL) THEN 'held'::text
            ELSE 'dropped'::text
        END = 'held'::text) AND (new.refund_id IS NOT NULL))))) EXECUTE FUNCTION public.claimed_transfers_move_refused();
CREATE TRIGGER claimed_transfers_deleted AFTER DELETE ON public.claimed_transfers FOR EACH ROW WHEN ((NOT ((
        CASE
            WHEN (old.dropped_at IS NULL) THEN 'held'::text
            ELSE 'dropped'::text
        END = 'dropped'::text) AND (old.refund_id IS NOT NULL)))) EXECUTE FUNCTION public.claimed_transfers_move_refused();
CREATE TRIGGER claimed_transfers_moved AFTER UPDATE ON public.claimed_transfers FOR EACH ROW WHEN ((NOT (((
        CASE
            WHEN (old.dropped_at IS NULL) THEN 'held'::text
            ELSE 'dropped'::text
        END =
        CASE
            WHEN (new.dropped_at IS NULL) THEN 'held'::text
            ELSE 'dropped'::text
        END) AND (
        CASE
            WHEN (old.dropped_at IS NULL) THEN 'held'::text
            ELSE 'dropped'::text
        END <> 'held'::text) AND (
        CASE
            WHEN (old.dropped_at IS NULL) THEN 'held'::text
            ELSE 'dropped'::text
        END <> 'dropped'::text)) OR ((
        CASE
            WHEN (old.dropped_at IS NULL) THEN 'held'::text
            ELSE 'dropped'::text
        END = 'held'::text) AND (
        CASE
            WHEN (new.dropped_at IS NULL) THEN 'held'::text
            ELSE 'dropped'::text
        END = 'held'::text) AND ((old.chain_id = new.chain_id) AND (old.transaction_id = new.transaction_id) AND (old.payer = new.payer) AND (old.receiver = new.receiver) AND (old.amount = new.amount) AND (old.ordinal = new.ordinal))) OR ((
        CASE
            WHEN (old.dropped_at IS NULL) THEN 'held'::text
            ELSE 'dropped'::text
        END = 'held'::text) AND (
        CASE
            WHEN (new.dropped_at IS NULL) THEN 'held'::text
            ELSE 'dropped'::text
        END = 'dropped'::text) AND ((old.watch_at IS NOT NULL) OR (old.refund_id IS NOT NULL)) AND ((old.chain_id = new.chain_id) AND (old.transaction_id = new.transaction_id) AND (old.payer = new.payer) AND (old.receiver = new.receiver) AND (old.amount = new.amount) AND (old.ordinal = new.ordinal))) OR ((
        CASE
            WHEN (old.dropped_at IS NULL) THEN 'held'::text
            ELSE 'dropped'::text
        END = 'dropped'::text) AND (
        CASE
            WHEN (new.dropped_at IS NULL) THEN 'held'::text
            ELSE 'dropped'::text
        END = 'dropped'::text) AND ((old.chain_id = new.chain_id) AND (old.transaction_id = new.transaction_id) AND (old.payer = new.payer) AND (old.receiver = new.receiver) AND (old.amount = new.amount) AND (old.ordinal = new.ordinal))) OR ((
        CASE
            WHEN (old.dropped_at IS NULL) THEN 'held'::text
            ELSE 'dropped'::text
        END = 'dropped'::text) AND (
        CASE
            WHEN (new.dropped_at IS NULL) THEN 'held'::text
            ELSE 'dropped'::text
        END = 'held'::text) AND ((old.chain_id = new.chain_id) AND (old.transaction_id = new.transaction_id) AND (old.payer = new.payer) AND (old.receiver = new.receiver) AND (old.amount = new.amount) AND (old.ordinal = new.ordinal))) OR ((
        CASE
            WHEN (old.dropped_at IS NULL) THEN 'held'::text
            ELSE 'dropped'::text
        END = 'dropped'::text) AND (
        CASE
            WHEN (new.dropped_at IS NULL) THEN 'held'::text
            ELSE 'dropped'::text
        END = 'held'::text) AND ((old.chain_id <> new.chain_id) OR (old.transaction_id <> new.transaction_id) OR (old.payer <> new.payer) OR (old.receiver <> new.receiver) OR (old.amount <> new.amount) OR (old.ordinal <> new.ordinal)))))) EXECUTE FUNCTION public.claimed_transfers_move_refused();
CREATE TRIGGER incoming_transfers_created AFTER INSERT ON public.incoming_transfers FOR EACH ROW WHEN ((NOT ((new.state = 'open'::text) OR (new.state = 'paid'::text)))) EXECUTE FUNCTION public.incoming_transfers_move_refused();
CREATE TRIGGER incoming_transfers_deleted AFTER DELETE ON public.incoming_transfers FOR EACH ROW WHEN ((NOT false)) EXECUTE FUNCTION public.incoming_transfers_move_refused();
CREATE TRIGGER incoming_transfers_moved AFTER UPDATE ON public.incoming_transfers FOR EACH ROW WHEN ((NOT ((old.state = new.state) OR ((old.state = 'open'::text) AND (new.state = 'paid'::text)) OR ((old.state = 'open'::text) AND (new.state = 'attaching'::text)) OR ((old.state = 'attaching'::text) AND (new.state = 'paid'::text)) OR ((old.state = 'attaching'::text) AND (new.state = 'open'::text)) OR ((old.state = 'open'::text) AND (new.state = 'handled'::text)) OR ((old.state = 'attaching'::text) AND (new.state = 'handled'::text)) OR ((old.state = 'handled'::text) AND (new.state = 'open'::text)) OR ((old.state = 'open'::text) AND (new.state = 'dropped'::text)) OR ((old.state = 'dropped'::text) AND (new.state = 'open'::text)) OR ((old.state = 'paid'::text) AND (new.state = 'dropped'::text)) OR ((old.state = 'dropped'::text) AND (new.state = 'paid'::text)) OR ((old.state = 'attaching'::text) AND (new.state = 'dropped'::text)) OR ((old.state = 'dropped'::text) AND (new.state = 'attaching'::text)) OR ((old.state = 'handled'::text) AND (new.state = 'dropped'::text)) OR ((old.state = 'dropped'::text) AND (new.state = 'handled'::text))))) EXECUTE FUNCTION public.incoming_transfers_move_refused();
CREATE TRIGGER merchant_keeps_an_owner AFTER DELETE OR UPDATE OF role, user_id, merchant_id ON public.merchant_members FOR EACH ROW WHEN ((old.role = 'owner'::text)) EXECUTE FUNCTION public.merchant_keeps_an_owner();
CREATE TRIGGER payments_created AFTER INSERT ON public.payments FOR EACH ROW WHEN ((NOT (new.status = 'pending'::text))) EXECUTE FUNCTION public.payments_move_refused();
CREATE TRIGGER payments_deleted AFTER DELETE ON public.payments FOR EACH ROW WHEN ((NOT false)) EXECUTE FUNCTION public.payments_move_refused();
CREATE TRIGGER payments_moved AFTER UPDATE ON public.payments FOR EACH ROW WHEN ((NOT ((old.status = new.status) OR ((old.status = 'pending'::text) AND (new.status = 'settled'::text)) OR ((old.status = 'pending'::text) AND (new.status = 'failed'::text)) OR ((old.status = 'pending'::text) AND (new.status = 'failed'::text)) OR ((old.status = 'pending'::text) AND (new.status = 'failed'::text)) OR ((old.status = 'failed'::text) AND (new.status = 'settled'::text))))) EXECUTE FUNCTION public.payments_move_refused();
CREATE TRIGGER refunds_created AFTER INSERT ON public.refunds FOR EACH ROW WHEN ((NOT (
        CASE
            WHEN ((new.status = 'proven'::text) AND (new.dropped_at IS NOT NULL)) THEN 'dropped'::text
            ELSE new.status
        END = 'pending'::text))) EXECUTE FUNCTION public.refunds_move_refused();
CREATE TRIGGER refunds_deleted AFTER DELETE ON public.refunds FOR EACH ROW WHEN ((NOT false)) EXECUTE FUNCTION public.refunds_move_refused();
CREATE TRIGGER refunds_moved AFTER UPDATE ON public.refunds FOR EACH ROW WHEN ((NOT ((
        CASE
            WHEN ((old.status = 'proven'::text) AND (old.dropped_at IS NOT NULL)) THEN 'dropped'::text
            ELSE old.status
        END =
        CASE
            WHEN ((new.status = 'proven'::text) AND (new.dropped_at IS NOT NULL)) THEN 'dropped'::text
            ELSE new.status
        END) OR ((
        CASE
            WHEN ((old.status = 'proven'::text) AND (old.dropped_at IS NOT NULL)) THEN 'dropped'::text
            ELSE old.status
        END = 'pending'::text) AND (
        CASE
            WHEN ((new.status = 'proven'::text) AND (new.dropped_at IS NOT NULL)) THEN 'dropped'::text
            ELSE new.status
        END = 'proven'::text)) OR ((
        CASE
            WHEN ((old.status = 'proven'::text) AND (old.dropped_at IS NOT NULL)) THEN 'dropped'::text
            ELSE old.status
        END = 'pending'::text) AND (
        CASE
            WHEN ((new.status = 'proven'::text) AND (new.dropped_at IS NOT NULL)) THEN 'dropped'::text
            ELSE new.status
        END = 'failed'::text)) OR ((
        CASE
            WHEN ((old.status = 'proven'::text) AND (old.dropped_at IS NOT NULL)) THEN 'dropped'::text
            ELSE old.status
        END = 'pending'::text) AND (
        CASE
            WHEN ((new.status = 'proven'::text) AND (new.dropped_at IS NOT NULL)) THEN 'dropped'::text
            ELSE new.status
        END = 'cancelled'::text)) OR ((
        CASE
            WHEN ((old.status = 'proven'::text) AND (old.dropped_at IS NOT NULL)) THEN 'dropped'::text
            ELSE old.status
        END = 'proven'::text) AND (
        CASE
            WHEN ((new.status = 'proven'::text) AND (new.dropped_at IS NOT NULL)) THEN 'dropped'::text
            ELSE new.status
        END = 'dropped'::text)) OR ((
        CASE
            WHEN ((old.status = 'proven'::text) AND (old.dropped_at IS NOT NULL)) THEN 'dropped'::text
            ELSE old.status
        END = 'dropped'::text) AND (
        CASE
            WHEN ((new.status = 'proven'::text) AND (new.dropped_at IS NOT NULL)) THEN 'dropped'::text
            ELSE new.status
        END = 'proven'::text)) OR ((
        CASE
            WHEN ((old.status = 'proven'::text) AND (old.dropped_at IS NOT NULL)) THEN 'dropped'::text
            ELSE old.status
        END = 'dropped'::text) AND (
        CASE
            WHEN ((new.status = 'proven'::text) AND (new.dropped_at IS NOT NULL)) THEN 'dropped'::text
            ELSE new.status
        END = 'failed'::text)) OR ((
        CASE
            WHEN ((old.status = 'proven'::text) AND (old.dropped_at IS NOT NULL)) THEN 'dropped'::text
            ELSE old.status
        END = 'dropped'::text) AND (
        CASE
            WHEN ((new.status = 'proven'::text) AND (new.dropped_at IS NOT NULL)) THEN 'dropped'::text
            ELSE new.status
        END = 'cancelled'::text))))) EXECUTE FUNCTION public.refunds_move_refused();
CREATE TRIGGER x402_settlements_created AFTER INSERT ON public.x402_settlements FOR EACH ROW WHEN ((NOT (
        CASE
            WHEN (new.status = 'pending'::text) THEN
            CASE
                WHEN new.reserves THEN 'reserved'::text
                ELSE 'released'::text
            END
            WHEN ((new.status = 'settled'::text) AND (new.answered_at IS NOT NULL)) THEN 'delivered'::text
            ELSE new.status
        END = 'reserved'::text))) EXECUTE FUNCTION public.x402_settlements_move_refused();
CREATE TRIGGER x402_settlements_deleted AFTER DELETE ON public.x402_settlements FOR EACH ROW WHEN ((NOT false)) EXECUTE FUNCTION public.x402_settlements_move_refused();
CREATE TRIGGER x402_settlements_moved AFTER UPDATE ON public.x402_settlements FOR EACH ROW WHEN ((NOT ((
        CASE
            WHEN (old.status = 'pending'::text) THEN
            CASE
                WHEN old.reserves THEN 'reserved'::text
                ELSE 'released'::text
            END
            WHEN ((old.status = 'settled'::text) AND (old.answered_at IS NOT NULL)) THEN 'delivered'::text
            ELSE old.status
        END =
        CASE
            WHEN (new.status = 'pending'::text) THEN
            CASE
                WHEN new.reserves THEN 'reserved'::text
                ELSE 'released'::text
            END
            WHEN ((new.status = 'settled'::text) AND (new.answered_at IS NOT NULL)) THEN 'delivered'::text
            ELSE new.status
        END) OR ((
        CASE
            WHEN (old.status = 'pending'::text) THEN
            CASE
                WHEN old.reserves THEN 'reserved'::text
                ELSE 'released'::text
            END
            WHEN ((old.status = 'settled'::text) AND (old.answered_at IS NOT NULL)) THEN 'delivered'::text
            ELSE old.status
        END = 'reserved'::text) AND (
        CASE
            WHEN (new.status = 'pending'::text) THEN
            CASE
                WHEN new.reserves THEN 'reserved'::text
                ELSE 'released'::text
            END
            WHEN ((new.status = 'settled'::text) AND (new.answered_at IS NOT NULL)) THEN 'delivered'::text
            ELSE new.status
        END = 'released'::text)) OR ((
        CASE
            WHEN (old.status = 'pending'::text) THEN
            CASE
                WHEN old.reserves THEN 'reserved'::text
                ELSE 'released'::text
            END
            WHEN ((old.status = 'settled'::text) AND (old.answered_at IS NOT NULL)) THEN 'delivered'::text
            ELSE old.status
        END = 'released'::text) AND (
        CASE
            WHEN (new.status = 'pending'::text) THEN
            CASE
                WHEN new.reserves THEN 'reserved'::text
                ELSE 'released'::text
            END
            WHEN ((new.status = 'settled'::text) AND (new.answered_at IS NOT NULL)) THEN 'delivered'::text
            ELSE new.status
        END = 'reserved'::text)) OR ((
        CASE
            WHEN (old.status = 'pending'::text) THEN
            CASE
                WHEN old.reserves THEN 'reserved'::text
                ELSE 'released'::text
            END
            WHEN ((old.status = 'settled'::text) AND (old.answered_at IS NOT NULL)) THEN 'delivered'::text
            ELSE old.status
        END = 'reserved'::text) AND (
        CASE
            WHEN (new.status = 'pending'::text) THEN
            CASE
                WHEN new.reserves THEN 'reserved'::text
                ELSE 'released'::text
            END
            WHEN ((new.status = 'settled'::text) AND (new.answered_at IS NOT NULL)) THEN 'delivered'::text
            ELSE new.status
        END = 'settled'::text)) OR ((
        CASE
            WHEN (old.status = 'pending'::text) THEN
            CASE
                WHEN old.reserves THEN 'reserved'::text
                ELSE 'released'::text
            END
            WHEN ((old.status = 'settled'::text) AND (old.answered_at IS NOT NULL)) THEN 'delivered'::text
            ELSE old.status
        END = 'released'::text) AND (
        CASE
            WHEN (new.status = 'pending'::text) THEN
            CASE
                WHEN new.reserves THEN 'reserved'::text
                ELSE 'released'::text
            END
            WHEN ((new.status = 'settled'::text) AND (new.answered_at IS NOT NULL)) THEN 'delivered'::text
            ELSE new.status
        END = 'settled'::text)) OR ((
        CASE
            WHEN (old.status = 'pending'::text) THEN
            CASE
                WHEN old.reserves THEN 'reserved'::text
                ELSE 'released'::text
            END
            WHEN ((old.status = 'settled'::text) AND (old.answered_at IS NOT NULL)) THEN 'delivered'::text
            ELSE old.status
        END = 'reserved'::text) AND (
        CASE
            WHEN (new.status = 'pending'::text) THEN
            CASE
                WHEN new.reserves THEN 'reserved'::text
                ELSE 'released'::text
            END
            WHEN ((new.status = 'settled'::text) AND (new.answered_at IS NOT NULL)) THEN 'delivered'::text
            ELSE new.status
        END = 'failed'::text)) OR ((
        CASE
            WHEN (old.status = 'pending'::text) THEN
            CASE
                WHEN old.reserves THEN 'reserved'::text
                ELSE 'released'::text
            END
            WHEN ((old.status = 'settled'::text) AND (old.answered_at IS NOT NULL)) THEN 'delivered'::text
            ELSE old.status
        END = 'released'::text) AND (
        CASE
            WHEN (new.status = 'pending'::text) THEN
            CASE
                WHEN new.reserves THEN 'reserved'::text
                ELSE 'released'::text
            END
            WHEN ((new.status = 'settled'::text) AND (new.answered_at IS NOT NULL)) THEN 'delivered'::text
            ELSE new.status
        END = 'failed'::text)) OR ((
        CASE
            WHEN (old.status = 'pending'::text) THEN
            CASE
                WHEN old.reserves THEN 'reserved'::text
                ELSE 'released'::text
            END
            WHEN ((old.status = 'settled'::text) AND (old.answered_at IS NOT NULL)) THEN 'delivered'::text
            ELSE old.status
        END = 'failed'::text) AND (
        CASE
            WHEN (new.status = 'pending'::text) THEN
            CASE
                WHEN new.reserves THEN 'reserved'::text
                ELSE 'released'::text
            END
            WHEN ((new.status = 'settled'::text) AND (new.answered_at IS NOT NULL)) THEN 'delivered'::text
            ELSE new.status
        END = 'reserved'::text)) OR ((
        CASE
            WHEN (old.status = 'pending'::text) THEN
            CASE
                WHEN old.reserves THEN 'reserved'::text
                ELSE 'released'::text
            END
            WHEN ((old.status = 'settled'::text) AND (old.answered_at IS NOT NULL)) THEN 'delivered'::text
            ELSE old.status
        END = 'settled'::text) AND (
        CASE
            WHEN (new.status = 'pending'::text) THEN
            CASE
                WHEN new.reserves THEN 'reserved'::text
                ELSE 'released'::text
            END
            WHEN ((new.status = 'settled'::text) AND (new.answered_at IS NOT NULL)) THEN 'delivered'::text
            ELSE new.status
        END = 'delivered'::text))))) EXECUTE FUNCTION public.x402_settlements_move_refused();
ALTER TABLE ONLY public.agent_payees
    ADD CONSTRAINT agent_payees_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES public.agents(id);
ALTER TABLE ONLY public.agent_payments
    ADD CONSTRAINT agent_payments_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES public.agents(id);
ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.api_keys(id);
ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES public.merchants(id);
ALTER TABLE ONLY public.alert_hooks
    ADD CONSTRAINT alert_hooks_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES public.merchants(id);
ALTER TABLE ONLY public.alert_posts
    ADD CONSTRAINT alert_posts_alert_id_fkey FOREIGN KEY (alert_id) REFERENCES public.alerts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.alert_posts
    ADD CONSTRAINT alert_posts_hook_id_fkey FOREIGN KEY (hook_id) REFERENCES public.alert_hooks(id) ON DELETE CASCADE;
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
ALTER TABLE ONLY public.authenticators
    ADD CONSTRAINT authenticators_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);
ALTER TABLE ONLY public.claimed_transfers
    ADD CONSTRAINT claimed_transfers_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES public.payments(id);
ALTER TABLE ONLY public.claimed_transfers
    ADD CONSTRAINT claimed_transfers_refund_id_fkey FOREIGN KEY (refund_id) REFERENCES public.refunds(id);
ALTER TABLE ONLY public.faucet_grants
    ADD CONSTRAINT faucet_grants_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES public.merchants(id);
ALTER TABLE ONLY public.incoming_transfers
    ADD CONSTRAINT incoming_transfers_attached_to_fkey FOREIGN KEY (attached_to) REFERENCES public.payments(id);
ALTER TABLE ONLY public.incoming_transfers
    ADD CONSTRAINT incoming_transfers_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES public.merchants(id);
ALTER TABLE ONLY public.incoming_transfers
    ADD CONSTRAINT incoming_transfers_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES public.payments(id);
ALTER TABLE ONLY public.known_browsers
    ADD CONSTRAINT known_browsers_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);
ALTER TABLE ONLY public.merchant_branding
    ADD CONSTRAINT merchant_branding_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES public.merchants(id);
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
ALTER TABLE ONLY public.outgoing_transfers
    ADD CONSTRAINT outgoing_transfers_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES public.merchants(id);
ALTER TABLE ONLY public.passkey_challenges
    ADD CONSTRAINT passkey_challenges_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);
ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);
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
ALTER TABLE ONLY public.receipt_mails
    ADD CONSTRAINT receipt_mails_receipt_id_fkey FOREIGN KEY (receipt_id) REFERENCES public.receipts(id);
ALTER TABLE ONLY public.receiver_changes
    ADD CONSTRAINT receiver_changes_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES public.merchants(id);
ALTER TABLE ONLY public.receiver_changes
    ADD CONSTRAINT receiver_changes_requested_by_fkey FOREIGN KEY (requested_by) REFERENCES public.users(id);
ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);
ALTER TABLE ONLY public.refunds
    ADD CONSTRAINT refunds_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES public.merchants(id);
ALTER TABLE ONLY public.refunds
    ADD CONSTRAINT refunds_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES public.payments(id);
ALTER TABLE ONLY public.refunds
    ADD CONSTRAINT refunds_transfer_id_fkey FOREIGN KEY (transfer_id) REFERENCES public.incoming_transfers(id);
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

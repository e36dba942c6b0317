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
        CASE TG_OP WHEN 'INSERT' THEN 'none' ELSE CASE
      WHEN OLD.dropped_at IS NOT NULL THEN 'dropped'
      WHEN OLD.payment_id IS NOT NULL THEN 'paid'
      WHEN OLD.attached_to IS NOT NULL THEN 'attaching'
      WHEN OLD.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END END,
        CASE TG_OP WHEN 'DELETE' THEN 'none' ELSE CASE
      WHEN NEW.dropped_at IS NOT NULL THEN 'dropped'
      WHEN NEW.payment_id IS NOT NULL THEN 'paid'
      WHEN NEW.attached_to IS NOT NULL THEN 'attaching'
      WHEN NEW.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END END
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
INSERT INTO public.alerts VALUES ('01a22048-3060-7625-994e-856b83462ca7', '01a22048-2fb7-7753-930a-20cb3cb2b01c', 'live', 'account_change', '01a22048-3060-7625-994e-856b83462ca7', 'person0@example.com made a full-access secret key (live).', '2026-11-28 03:52:11.599+00', NULL, '01a22048-2fab-71b2-a1a6-68dd340437f4', NULL, NULL, NULL);
INSERT INTO public.api_keys VALUES ('01a22048-3042-7597-9383-2707a2642429', '01a22048-2fb7-7753-930a-20cb3cb2b01c', 'secret', 'live', 'manage', '\x70357ea119379e812189525b954f7f32d7f09842708194dedc541c2fd2424e31', 'sk_live_', 'mxpI', '2026-11-28 03:52:11.587+00', NULL, NULL, NULL, NULL);
INSERT INTO public.api_keys VALUES ('01a22048-308b-7432-9e11-7df057c19e15', '01a22048-2fb7-7753-930a-20cb3cb2b01c', 'publishable', 'live', 'read', '\xd60c7159d5b2b466c244172e77ba3d68ba3534e75956c58f1dd3886a2765b1af', 'pk_live_', '8VP4', '2026-11-28 03:52:11.659+00', NULL, NULL, NULL, 'pk_live_1jIawBOJIcSfiYmHNmJh4AzpCoCgI4TB3AQxVz1rszv1c8VP4');
INSERT INTO public.api_keys VALUES ('01a22048-2fb9-7314-9a24-69ea20099c18', '01a22048-2fb7-7753-930a-20cb3cb2b01c', 'secret', 'test', 'manage', '\xc9161f02ff3fce7aaa8f7edaed30db234cf48d53d954fd3dde536fc550be1282', 'sk_test_', 'HlEd', '2026-11-28 03:52:11.449+00', '2026-11-28 03:52:23.421+00', NULL, NULL, NULL);
INSERT INTO public.api_keys VALUES ('01a22048-2fb9-7314-9a24-69eb7bc7780a', '01a22048-2fb7-7753-930a-20cb3cb2b01c', 'publishable', 'test', 'read', '\x219f15e0fe3fb0a0328d757decf27352531e713a69d33171638ffec21e008749', 'pk_test_', 't3DK', '2026-11-28 03:52:11.449+00', '2026-11-28 03:52:23.421+00', NULL, NULL, 'pk_test_4k2ELSCqBCt7jzt5ndK3dFT4ePPm5PDN2PUZA7K3CFC2Tt3DK');
INSERT INTO public.audit_entries VALUES (1, '01a22048-2fb7-7753-930a-20cb3cb2b01c', 'live', '2026-11-28 03:52:11.599+00', '01a22048-2fab-71b2-a1a6-68dd340437f4', 'person0@example.com', 'key.created', 'made a full-access secret key', '\x90bcaf44dc8ec6012098a4a91107c3dc17ef8acd7cdd89f26e479ada2dbb7658');
INSERT INTO public.audit_entries VALUES (2, '01a22048-2fb7-7753-930a-20cb3cb2b01c', 'live', '2026-11-28 03:52:11.66+00', '01a22048-2fab-71b2-a1a6-68dd340437f4', 'person0@example.com', 'key.created', 'made a publishable key', '\xeb26016fa31b313114d3fb56180f8b27feba20d8e3acb247b47987c3a51b18ac');
INSERT INTO public.chain_cursors VALUES (84532, 15, '\x4c0884e49080d2d2bda0f29fd66b96f6ff298a4484a67f12cc953cfc5fe47ac7', '2026-11-28 03:52:20+00', NULL, NULL);
INSERT INTO public.claimed_transfers VALUES (84532, '\x84d14d32e4d992f74215f7c16420ec286195e43e838ecd9925724a7f4fa29e16', 0, '01a22048-30c0-722b-867d-5ca01210ec29', 7, '\x2b747df97dd6b3bdf6eca96beedadca4690225e0f96addb3d4196308287bca91', '2026-11-28 03:53:14.016+00', NULL, '\x1bcbcb32eb0f51c6d76bd2ad21d47b2ff07b3f5a', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 10000000, 0, NULL);
INSERT INTO public.claimed_transfers VALUES (84532, '\x72fec54e5c451665a6f72b182d8e02650a2577a20581052ce310456cda6fd35a', 0, '01a22048-39f3-7653-99b8-47f638c737ba', 10, '\x61073c0a1c443e13b3ac7767719c07865cb719aaee93df7225b74671831de343', '2026-11-28 03:53:17.421+00', NULL, '\x78d57c74b2dee2fec81bc2537818d327f9f14c80', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 2500000, 0, NULL);
INSERT INTO public.claimed_transfers VALUES (84532, '\x52f664aa76c0a226e393431fe2f5c03e498e733393aef47431046832bf1d84a3', 0, '01a22048-475b-74d1-9437-157c00c0b801', 13, '\x80b0c84c5c6083c7a3d7c03bba3cc168adc97507241f6d4f7bd5c1bc4a4e6d96', '2026-11-28 03:53:20.364+00', NULL, '\x055d8856b3d5ffe23cfcf9c4b59b3f2cb5ef2d9a', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 1110000, 0, NULL);
INSERT INTO public.effect_sql_migrations VALUES (1, '2026-11-28 03:52:09.210714+00', 'initial');
INSERT INTO public.incoming_transfers VALUES ('01a22048-408c-75b3-8be0-0bba3caf8a2c', 84532, '\x84d14d32e4d992f74215f7c16420ec286195e43e838ecd9925724a7f4fa29e16', '\x1bcbcb32eb0f51c6d76bd2ad21d47b2ff07b3f5a', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 10000000, 0, '01a22048-2fb7-7753-930a-20cb3cb2b01c', 'test', 7, '\x2b747df97dd6b3bdf6eca96beedadca4690225e0f96addb3d4196308287bca91', '2026-11-28 03:52:12+00', NULL, '01a22048-30c0-722b-867d-5ca01210ec29', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-28 03:52:15.756+00');
INSERT INTO public.incoming_transfers VALUES ('01a22048-4880-72b1-b057-688b40f1a07f', 84532, '\x72fec54e5c451665a6f72b182d8e02650a2577a20581052ce310456cda6fd35a', '\x78d57c74b2dee2fec81bc2537818d327f9f14c80', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 2500000, 0, '01a22048-2fb7-7753-930a-20cb3cb2b01c', 'test', 10, '\x61073c0a1c443e13b3ac7767719c07865cb719aaee93df7225b74671831de343', '2026-11-28 03:52:15+00', NULL, '01a22048-39f3-7653-99b8-47f638c737ba', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-28 03:52:17.792+00');
INSERT INTO public.incoming_transfers VALUES ('01a22048-5467-77e8-beb2-95204a120207', 84532, '\x52f664aa76c0a226e393431fe2f5c03e498e733393aef47431046832bf1d84a3', '\x055d8856b3d5ffe23cfcf9c4b59b3f2cb5ef2d9a', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 1110000, 0, '01a22048-2fb7-7753-930a-20cb3cb2b01c', 'test', 13, '\x80b0c84c5c6083c7a3d7c03bba3cc168adc97507241f6d4f7bd5c1bc4a4e6d96', '2026-11-28 03:52:18+00', NULL, '01a22048-475b-74d1-9437-157c00c0b801', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-28 03:52:20.839+00');
INSERT INTO public.known_browsers VALUES ('\x10ef32ab8a5605df8c1ebc4a7df8b21f26b4ed74ffc6c2b4b35a5f1f4123485c', '01a22048-2fab-71b2-a1a6-68dd340437f4', '2026-11-28 03:52:11.544+00', '2027-11-28 03:52:11.544+00');
INSERT INTO public.merchant_members VALUES ('01a22048-2fb7-7753-930a-20cb3cb2b01c', '01a22048-2fab-71b2-a1a6-68dd340437f4', '2026-11-28 03:52:11.435+00', 'owner', 'all', true);
INSERT INTO public.merchant_receivers VALUES ('test', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', '01a22048-2fb7-7753-930a-20cb3cb2b01c', '2026-11-28 03:52:11.48+00', '2026-11-28 03:52:11.48+00');
INSERT INTO public.merchant_receivers VALUES ('live', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', '01a22048-2fb7-7753-930a-20cb3cb2b01c', '2026-11-28 03:52:11.484+00', '2026-11-28 03:52:11.484+00');
INSERT INTO public.merchants VALUES ('01a22048-2fb7-7753-930a-20cb3cb2b01c', 'Shop', NULL, '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', NULL, '2026-11-28 03:52:11.449+00', false, 86400, '{}', 'UTC', '2026-11-23 00:00:00+00', '2026-11-30 08:00:00+00');
INSERT INTO public.payment_links VALUES ('mAYdFB2-8fBXQ6te1EmWQYaw', '01a22048-2fb7-7753-930a-20cb3cb2b01c', 'test', 'pk_test_4k2ELSCqBCt7jzt5ndK3dFT4ePPm5PDN2PUZA7K3CFC2Tt3DK', 'A book', 7000000, NULL, NULL, false, NULL, '2026-11-28 03:52:17.456+00', NULL, NULL, NULL, NULL);
INSERT INTO public.payment_verdicts VALUES ('01a22048-30c0-722b-867d-5ca01210ec29', '2026-11-28 03:52:12.149+00', '\x372d6c24375be05e708b8bdc0634bc846e13a9961267c4df2a9bdbb966645d59', '2026-11-28 03:52:12.109+00', '\x84d14d32e4d992f74215f7c16420ec286195e43e838ecd9925724a7f4fa29e16', '\x1bcbcb32eb0f51c6d76bd2ad21d47b2ff07b3f5a', 'not_found', NULL, NULL);
INSERT INTO public.payment_verdicts VALUES ('01a22048-30c0-722b-867d-5ca01210ec29', '2026-11-28 03:52:12.968+00', '\x372d6c24375be05e708b8bdc0634bc846e13a9961267c4df2a9bdbb966645d59', '2026-11-28 03:52:12.951+00', '\x84d14d32e4d992f74215f7c16420ec286195e43e838ecd9925724a7f4fa29e16', '\x1bcbcb32eb0f51c6d76bd2ad21d47b2ff07b3f5a', 'confirmations', NULL, NULL);
INSERT INTO public.payment_verdicts VALUES ('01a22048-39f3-7653-99b8-47f638c737ba', '2026-11-28 03:52:15.057+00', '\xe1eb07dfa7e9065d00099483352faff10bb74884b863c63eebd5cd10815d94e4', '2026-11-28 03:52:15.053+00', '\x72fec54e5c451665a6f72b182d8e02650a2577a20581052ce310456cda6fd35a', '\x78d57c74b2dee2fec81bc2537818d327f9f14c80', 'not_found', NULL, NULL);
INSERT INTO public.payment_verdicts VALUES ('01a22048-39f3-7653-99b8-47f638c737ba', '2026-11-28 03:52:16.374+00', '\xe1eb07dfa7e9065d00099483352faff10bb74884b863c63eebd5cd10815d94e4', '2026-11-28 03:52:16.364+00', '\x72fec54e5c451665a6f72b182d8e02650a2577a20581052ce310456cda6fd35a', '\x78d57c74b2dee2fec81bc2537818d327f9f14c80', 'confirmations', NULL, NULL);
INSERT INTO public.payment_verdicts VALUES ('01a22048-475b-74d1-9437-157c00c0b801', '2026-11-28 03:52:17.996+00', '\x88cb7c0c05e502294ca77d82e025f112fa13566a085b9808acdd7b40bfd30770', '2026-11-28 03:52:17.99+00', '\x52f664aa76c0a226e393431fe2f5c03e498e733393aef47431046832bf1d84a3', '\x055d8856b3d5ffe23cfcf9c4b59b3f2cb5ef2d9a', 'not_found', NULL, NULL);
INSERT INTO public.payment_verdicts VALUES ('01a22048-475b-74d1-9437-157c00c0b801', '2026-11-28 03:52:19.314+00', '\x88cb7c0c05e502294ca77d82e025f112fa13566a085b9808acdd7b40bfd30770', '2026-11-28 03:52:19.305+00', '\x52f664aa76c0a226e393431fe2f5c03e498e733393aef47431046832bf1d84a3', '\x055d8856b3d5ffe23cfcf9c4b59b3f2cb5ef2d9a', 'confirmations', NULL, NULL);
INSERT INTO public.payments VALUES ('01a22048-30c0-722b-867d-5ca01210ec29', '01a22048-2fb7-7753-930a-20cb3cb2b01c', 'test', 'settled', 10000000, 'PAY-YW9R071W', 'http://localhost:21672/playground', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 'human', '2026-11-28 03:52:11.724+00', '2026-11-28 03:52:14.007+00', '\x84d14d32e4d992f74215f7c16420ec286195e43e838ecd9925724a7f4fa29e16', '\x1bcbcb32eb0f51c6d76bd2ad21d47b2ff07b3f5a', '[{"chainId": 84532, "receiver": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc", "amountAtomic": "10000000", "tokenAddress": "0x036CbD53842c5426634e7929541eC2318f3dCF7e"}]', '2026-11-28 03:52:14.016+00', NULL, NULL, 3, NULL);
INSERT INTO public.payments VALUES ('01a22048-39f3-7653-99b8-47f638c737ba', '01a22048-2fb7-7753-930a-20cb3cb2b01c', 'test', 'settled', 2500000, 'PAY-N7EKNJO0', 'http://localhost:21672/playground', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 'human', '2026-11-28 03:52:14.073+00', '2026-11-28 03:52:17.412+00', '\x72fec54e5c451665a6f72b182d8e02650a2577a20581052ce310456cda6fd35a', '\x78d57c74b2dee2fec81bc2537818d327f9f14c80', '[{"chainId": 84532, "receiver": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc", "amountAtomic": "2500000", "tokenAddress": "0x036CbD53842c5426634e7929541eC2318f3dCF7e"}]', '2026-11-28 03:52:17.421+00', NULL, NULL, 3, NULL);
INSERT INTO public.payments VALUES ('01a22048-475b-74d1-9437-157c00c0b801', '01a22048-2fb7-7753-930a-20cb3cb2b01c', 'test', 'settled', 1110000, 'PAY-9Q7OF3XK', 'http://localhost:21672/playground', '\x9965507d1a55bcc2695c58ba16fb37d819b0a4dc', 'human', '2026-11-28 03:52:17.503+00', '2026-11-28 03:52:20.352+00', '\x52f664aa76c0a226e393431fe2f5c03e498e733393aef47431046832bf1d84a3', '\x055d8856b3d5ffe23cfcf9c4b59b3f2cb5ef2d9a', '[{"chainId": 84532, "receiver": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc", "amountAtomic": "1110000", "tokenAddress": "0x036CbD53842c5426634e7929541eC2318f3dCF7e"}]', '2026-11-28 03:52:20.364+00', NULL, NULL, 9, NULL);
INSERT INTO public.receipt_keys VALUES ('01a22048-4743-766c-9da2-bd9eb37c8e89', '{"crv":"P-256","kty":"EC","x":"rFv2NOWJK7wRswe3wJboBYAvZw-pGjdN1eqWGJIGTvg","y":"ESOxl1hdUue0WWMX7oOGuhtbcesUE58Rbisa-lbn8as","kid":"01a22048-4743-766c-9da2-bd9eb37c8e89","alg":"ES256","use":"sig"}', 'test', '\x6e7d8732ccd8d4445695da8ded2446cea5885438551dad193a6a0f1dcab4d572b19493d0f15c1eda095276a2c1eb87a7f7c03c4665c38d4c6c2097c49b02ae8803b00428f73baf8d7b770039c119061b38ba4ec08278cf3d3f018126ec42a6d3a171b4a60e231541b952efbdef4e2f31103fe40d1654d265e9ede21bc5b618a6c5057ce6844800ef95da39ae035173ce7d40e92491dbc3089452abf60d156658caf923d979adaf300876d8891e8a3cbdaf4b4d5e4a82d6babd4505dd56624b733145b92e7855b63210d98519', '2026-11-28 03:52:17.479+00');
INSERT INTO public.receipts VALUES ('RS2EfC3ZWIm4fXYZr_qtWE9Y', '01a22048-30c0-722b-867d-5ca01210ec29', 'eyJhbGciOiJFUzI1NiIsImtpZCI6IjAxYTIyMDQ4LTQ3NDMtNzY2Yy05ZGEyLWJkOWViMzdjOGU4OSIsInR5cCI6InJlY2VpcHQrandzIn0.eyJpc3MiOiJodHRwOi8vbG9jYWxob3N0Ojg3ODciLCJqdGkiOiJSUzJFZkMzWldJbTRmWFlacl9xdFdFOVkiLCJpYXQiOjE3OTU4Mzc5MzQsInBheW1lbnRJZCI6IjAxYTIyMDQ4LTMwYzAtNzIyYi04NjdkLTVjYTAxMjEwZWMyOSIsInJlZkNvZGUiOiJQQVktWVc5UjA3MVciLCJtZXJjaGFudCI6IlNob3AiLCJhbW91bnQiOiIxMC4wMCIsImN1cnJlbmN5IjoiVVNEIiwiZW52IjoidGVzdCIsInNldHRsZWRBdCI6IjIwMjYtMTEtMjhUMDM6NTI6MTQuMDE2WiIsInBheWVyIjoiMHgxYkNCQ0IzMmVCMGY1MWM2ZDc2QmQyQUQyMUQ0N0IyRkYwN0IzRjVBIiwicmVjZWl2ZXIiOiIweDk5NjU1MDdEMWE1NWJjQzI2OTVDNThiYTE2RkIzN2Q4MTlCMEE0ZGMiLCJ0cmFuc2FjdGlvbklkIjoiMHg4NGQxNGQzMmU0ZDk5MmY3NDIxNWY3YzE2NDIwZWMyODYxOTVlNDNlODM4ZWNkOTkyNTcyNGE3ZjRmYTI5ZTE2IiwidG9rZW4iOnsiYWRkcmVzcyI6IjB4MDM2Q2JENTM4NDJjNTQyNjYzNGU3OTI5NTQxZUMyMzE4ZjNkQ0Y3ZSIsImNoYWluSWQiOjg0NTMyfX0.afFs67I1UlppE42xJcpci2zhMq0xF8fLx6XE-rylmNXTyYsgdFnVjFjiSOTA85NAEYNMyw9t7ItgvhiWWHbBcQ', '2026-11-28 03:52:17.482+00');
INSERT INTO public.sessions VALUES ('\x3658157fa89d805f89b9e23101cb07e491af2e6a6332438904620fcc69dfb32f', '01a22048-2fab-71b2-a1a6-68dd340437f4', '2026-11-28 03:52:11.5+00', '2026-12-05 03:52:11.5+00', '2026-11-28 03:52:11.5+00', '64d9a9ac-4cca-4917-b0bd-1b71274aa46e', 'Bun/1.4.5', '127.0.0.1', '2026-11-28 03:52:11.57+00');
INSERT INTO public.users VALUES ('01a22048-2fab-71b2-a1a6-68dd340437f4', 'person0@example.com', '$argon2id$v=19$m=65536,t=2,p=1$dVhKlnMvaczVMmEcmus/sC/lIVY9Y8pnxXsM65V7tTU$Zlvzre1u+6vHAXXwR637rMoGIM6R/vtoudh5RzGw2D8', false, '2026-11-28 03:52:11.435+00', 'en');
INSERT INTO public.webhook_attempts VALUES ('e10875b9-bd20-8c40-bdc7-d6cf1d6172f1', 1, false, '2026-11-28 03:52:14.033+00', 8, 200, NULL, NULL, 'POST /hooks HTTP/1.1
host: 127.0.0.1:45303
user-agent: Quittance-Webhooks/1
accept: */*
accept-encoding: identity
content-type: application/json
content-length: 349
x-service-signature: t=1795837934,v1=592f0b63427d9ec8c486c1f221831330fd200a5176c40b56f1ad1d99a4146a82
webhook-id: e10875b9-bd20-8c40-bdc7-d6cf1d6172f1
webhook-timestamp: 1795837934
webhook-signature: v1,GPKPIrVGyeKaahTby2h6L28xpaITzzlLI1TTN6KVrPs=
quittance-payment-id: 01a22048-30c0-722b-867d-5ca01210ec29
quittance-intent-url: http://localhost:21672/playground
quittance-order-signature: t=1795837934,v1=3441b223be71e78eeb523b843ad3ab2ee3e6801416211e0eaa15d2d363e0ae5b');
INSERT INTO public.webhook_attempts VALUES ('9ffde536-85bf-80cc-ac5f-422983aa5009', 1, false, '2026-11-28 03:52:17.43+00', 4, 200, NULL, NULL, 'POST /hooks HTTP/1.1
host: 127.0.0.1:45303
user-agent: Quittance-Webhooks/1
accept: */*
accept-encoding: identity
content-type: application/json
content-length: 348
x-service-signature: t=1795837937,v1=7fa8ed4673493ace4932b2a2fa2bc7ca53b8d2a60a723d3bb0d2fc4021541d52
webhook-id: 9ffde536-85bf-80cc-ac5f-422983aa5009
webhook-timestamp: 1795837937
webhook-signature: v1,0p3QxKtH7VPpj/NFqIBLzrxRRzEyri2xwLlcf1nNc/0=
quittance-payment-id: 01a22048-39f3-7653-99b8-47f638c737ba
quittance-intent-url: http://localhost:21672/playground
quittance-order-signature: t=1795837937,v1=6d258369d64cbffc4760732829307238d5963176553891a7080f8002294347ac');
INSERT INTO public.webhook_attempts VALUES ('712538d6-106b-809b-a3d4-1dfe0670f6f3', 1, false, '2026-11-28 03:52:20.371+00', 2, 500, 'status', NULL, 'POST /hooks HTTP/1.1
host: 127.0.0.1:45303
user-agent: Quittance-Webhooks/1
accept: */*
accept-encoding: identity
content-type: application/json
content-length: 348
x-service-signature: t=1795837940,v1=ea81903696261e53983958bef252e7d61270ca1689e33451c50bba47dd28dab4
webhook-id: 712538d6-106b-809b-a3d4-1dfe0670f6f3
webhook-timestamp: 1795837940
webhook-signature: v1,CswqkHky/uQmKVxmhtlo3tsF4pLEUe16jwXHD9SzGu4=
quittance-payment-id: 01a22048-475b-74d1-9437-157c00c0b801
quittance-intent-url: http://localhost:21672/playground
quittance-order-signature: t=1795837940,v1=bb37ab8bb82dc106223a9720f50811d615e2ac1246cf2ab4791a8bd8e85779a9');
INSERT INTO public.webhook_deliveries VALUES ('e10875b9-bd20-8c40-bdc7-d6cf1d6172f1', '01a22048-2fb7-7753-930a-20cb3cb2b01c', 'test', '01a22048-309f-7453-8346-638337b13da3', '01a22048-30c0-722b-867d-5ca01210ec29', 'payment.settled', '\x7b226964223a2265313038373562392d626432302d386334302d626463372d643663663164363137326631222c2274797065223a227061796d656e742e736574746c6564222c226c6976656d6f6465223a66616c73652c227472616e73616374696f6e4964223a22307838346431346433326534643939326637343231356637633136343230656332383631393565343365383338656364393932353732346137663466613239653136222c22746f6b656e4368616e676573223a5b7b22616d6f756e7441746f6d6963223a223130303030303030222c22636861696e4964223a38343533322c227265636569766572223a22307839393635353037443161353562634332363935433538626131364642333764383139423041346463222c22746f6b656e41646472657373223a22307830333643624435333834326335343236363334653739323935343165433233313866336443463765227d5d7d', 'delivered', 1, 0, NULL, NULL, NULL, '2026-11-28 03:52:14.016+00', '2026-11-28 03:52:14.055+00', '01a22048-2ae2-7785-98ff-10be68d35a0b', 1);
INSERT INTO public.webhook_deliveries VALUES ('9ffde536-85bf-80cc-ac5f-422983aa5009', '01a22048-2fb7-7753-930a-20cb3cb2b01c', 'test', '01a22048-309f-7453-8346-638337b13da3', '01a22048-39f3-7653-99b8-47f638c737ba', 'payment.settled', '\x7b226964223a2239666664653533362d383562662d383063632d616335662d343232393833616135303039222c2274797065223a227061796d656e742e736574746c6564222c226c6976656d6f6465223a66616c73652c227472616e73616374696f6e4964223a22307837326665633534653563343531363635613666373262313832643865303236353061323537376132303538313035326365333130343536636461366664333561222c22746f6b656e4368616e676573223a5b7b22616d6f756e7441746f6d6963223a2232353030303030222c22636861696e4964223a38343533322c227265636569766572223a22307839393635353037443161353562634332363935433538626131364642333764383139423041346463222c22746f6b656e41646472657373223a22307830333643624435333834326335343236363334653739323935343165433233313866336443463765227d5d7d', 'delivered', 1, 0, NULL, NULL, NULL, '2026-11-28 03:52:17.421+00', '2026-11-28 03:52:17.442+00', '01a22048-2ae2-7785-98ff-10be68d35a0b', 2);
INSERT INTO public.webhook_deliveries VALUES ('712538d6-106b-809b-a3d4-1dfe0670f6f3', '01a22048-2fb7-7753-930a-20cb3cb2b01c', 'test', '01a22048-309f-7453-8346-638337b13da3', '01a22048-475b-74d1-9437-157c00c0b801', 'payment.settled', '\x7b226964223a2237313235333864362d313036622d383039622d613364342d316466653036373066366633222c2274797065223a227061796d656e742e736574746c6564222c226c6976656d6f6465223a66616c73652c227472616e73616374696f6e4964223a22307835326636363461613736633061323236653339333433316665326635633033653439386537333333393361656634373433313034363833326266316438346133222c22746f6b656e4368616e676573223a5b7b22616d6f756e7441746f6d6963223a2231313130303030222c22636861696e4964223a38343533322c227265636569766572223a22307839393635353037443161353562634332363935433538626131364642333764383139423041346463222c22746f6b656e41646472657373223a22307830333643624435333834326335343236363334653739323935343165433233313866336443463765227d5d7d', 'pending', 1, 0, '2026-11-28 03:53:20.379+00', NULL, NULL, '2026-11-28 03:52:20.364+00', NULL, '01a22048-2ae2-7785-98ff-10be68d35a0b', 3);
INSERT INTO public.webhook_endpoints VALUES ('01a22048-309f-7453-8346-638337b13da3', '01a22048-2fb7-7753-930a-20cb3cb2b01c', 'test', 'http://127.0.0.1:45303/hooks', 'test', '\x05dc0b3f667d373750b7975b1c4616d1aad69383913aa8b067a21161ef7874362e28046013cf32b81e07c208dcc87aeb85c552a7a4372f2cd0881dbda056dbe195a6ad1cf99391c932eb5caae22a', 'QVM=', true, true, '2026-11-28 03:52:17.442+00', '2026-11-28 03:52:14.055+00', '2026-11-28 03:52:11.68+00', '2026-11-28 03:52:11.68+00', NULL);
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
CREATE TRIGGER incoming_transfers_created AFTER INSERT ON public.incoming_transfers FOR EACH ROW WHEN ((NOT ((
        CASE
            WHEN (new.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (new.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (new.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (new.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'open'::text) OR (
        CASE
            WHEN (new.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (new.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (new.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (new.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'paid'::text)))) EXECUTE FUNCTION public.incoming_transfers_move_refused();
CREATE TRIGGER incoming_transfers_deleted AFTER DELETE ON public.incoming_transfers FOR EACH ROW WHEN ((NOT false)) EXECUTE FUNCTION public.incoming_transfers_move_refused();
CREATE TRIGGER incoming_transfers_moved AFTER UPDATE ON public.incoming_transfers FOR EACH ROW WHEN ((NOT ((
        CASE
            WHEN (old.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (old.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (old.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (old.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END =
        CASE
            WHEN (new.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (new.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (new.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (new.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END) OR ((
        CASE
            WHEN (old.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (old.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (old.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (old.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'open'::text) AND (
        CASE
            WHEN (new.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (new.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (new.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (new.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'paid'::text)) OR ((
        CASE
            WHEN (old.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (old.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (old.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (old.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'open'::text) AND (
        CASE
            WHEN (new.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (new.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (new.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (new.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'attaching'::text)) OR ((
        CASE
            WHEN (old.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (old.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (old.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (old.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'attaching'::text) AND (
        CASE
            WHEN (new.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (new.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (new.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (new.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'paid'::text)) OR ((
        CASE
            WHEN (old.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (old.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (old.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (old.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'attaching'::text) AND (
        CASE
            WHEN (new.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (new.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (new.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (new.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'open'::text)) OR ((
        CASE
            WHEN (old.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (old.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (old.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (old.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'open'::text) AND (
        CASE
            WHEN (new.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (new.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (new.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (new.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'handled'::text)) OR ((
        CASE
            WHEN (old.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (old.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (old.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (old.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'attaching'::text) AND (
        CASE
            WHEN (new.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (new.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (new.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (new.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'handled'::text)) OR ((
        CASE
            WHEN (old.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (old.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (old.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (old.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'handled'::text) AND (
        CASE
            WHEN (new.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (new.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (new.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (new.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'open'::text)) OR ((
        CASE
            WHEN (old.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (old.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (old.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (old.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'open'::text) AND (
        CASE
            WHEN (new.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (new.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (new.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (new.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'dropped'::text)) OR ((
        CASE
            WHEN (old.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (old.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (old.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (old.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'dropped'::text) AND (
        CASE
            WHEN (new.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (new.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (new.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (new.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'open'::text)) OR ((
        CASE
            WHEN (old.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (old.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (old.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (old.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'paid'::text) AND (
        CASE
            WHEN (new.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (new.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (new.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (new.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'dropped'::text)) OR ((
        CASE
            WHEN (old.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (old.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (old.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (old.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'dropped'::text) AND (
        CASE
            WHEN (new.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (new.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (new.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (new.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'paid'::text)) OR ((
        CASE
            WHEN (old.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (old.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (old.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (old.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'attaching'::text) AND (
        CASE
            WHEN (new.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (new.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (new.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (new.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'dropped'::text)) OR ((
        CASE
            WHEN (old.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (old.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (old.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (old.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'dropped'::text) AND (
        CASE
            WHEN (new.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (new.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (new.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (new.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'attaching'::text)) OR ((
        CASE
            WHEN (old.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (old.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (old.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (old.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'handled'::text) AND (
        CASE
            WHEN (new.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (new.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (new.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (new.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'dropped'::text)) OR ((
        CASE
            WHEN (old.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (old.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (old.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (old.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'dropped'::text) AND (
        CASE
            WHEN (new.dropped_at IS NOT NULL) THEN 'dropped'::text
            WHEN (new.payment_id IS NOT NULL) THEN 'paid'::text
            WHEN (new.attached_to IS NOT NULL) THEN 'attaching'::text
            WHEN (new.handled_at IS NOT NULL) THEN 'handled'::text
            ELSE 'open'::text
        END = 'handled'::text))))) EXECUTE FUNCTION public.incoming_transfers_move_refused();
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

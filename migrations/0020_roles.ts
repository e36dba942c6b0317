// Members have roles. Whoever was a member before is an owner, and a merchant that had an owner keeps one,
// whoever writes.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    ALTER TABLE merchant_members ADD COLUMN role text NOT NULL DEFAULT 'owner'
      CHECK (role IN ('owner', 'developer', 'support', 'read_only'))`
  yield* sql`ALTER TABLE merchant_members ALTER COLUMN role DROP DEFAULT`
  yield* sql`
    ALTER TABLE one_time_links ADD COLUMN role text NOT NULL DEFAULT 'owner'
      CHECK (role IN ('owner', 'developer', 'support', 'read_only'))`

  // The release before knows no roles: by it the first member becomes the owner, others may read.
  yield* sql`
    CREATE FUNCTION merchant_members_role() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.role IS NULL THEN
        NEW.role := CASE WHEN EXISTS (SELECT FROM merchant_members WHERE merchant_id = NEW.merchant_id)
          THEN 'read_only' ELSE 'owner' END;
      END IF;
      RETURN NEW;
    END $$`
  yield* sql`
    CREATE TRIGGER merchant_members_role BEFORE INSERT ON merchant_members
    FOR EACH ROW EXECUTE FUNCTION merchant_members_role()`

  // Changes of one merchant wait for each other here, so that each sees what the others have left.
  yield* sql`
    CREATE FUNCTION merchant_keeps_an_owner() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM FROM merchants WHERE id = OLD.merchant_id FOR NO KEY UPDATE;
      IF NOT EXISTS (SELECT FROM merchant_members WHERE merchant_id = OLD.merchant_id AND role = 'owner') THEN
        RAISE EXCEPTION 'A merchant keeps its last owner' USING ERRCODE = 'restrict_violation';
      END IF;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER merchant_keeps_an_owner AFTER DELETE OR UPDATE OF role, user_id, merchant_id ON merchant_members
    FOR EACH ROW WHEN (OLD.role = 'owner') EXECUTE FUNCTION merchant_keeps_an_owner()`
})

export const down = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP TRIGGER merchant_keeps_an_owner ON merchant_members`
  yield* sql`DROP FUNCTION merchant_keeps_an_owner`
  yield* sql`DROP TRIGGER merchant_members_role ON merchant_members`
  yield* sql`DROP FUNCTION merchant_members_role`
  // To the release before, everybody is an owner: invitations as less are void.
  yield* sql`UPDATE one_time_links SET used_at = now() WHERE role <> 'owner' AND used_at IS NULL`
  yield* sql`ALTER TABLE one_time_links DROP COLUMN role`
  yield* sql`ALTER TABLE merchant_members DROP COLUMN role`
})

import { expect, test } from "vitest"
import { isSecretName } from "./secret-names.ts"

test.each(["password", "passwort", "pin", "card_pin", "cardPin", "sessionid", "JSESSIONID", "bearer", "bearerToken"])(
  "the value under %s is hidden",
  (name) => expect(isSecretName(name)).toBe(true),
)

test.each([
  "tokenExpiresAt",
  "token_expires_at",
  "tokenExpiry",
  "tokenTtlMs",
  "tokenCount",
  "token_count",
  "maxTokens",
  "max_tokens",
  "inputTokens",
  "prompt_tokens",
])("what %s says of a token is shown", (name) => expect(isSecretName(name)).toBe(false))

test.each(["token", "tokens", "accessToken", "tokenHash", "countToken", "tokenLimitKey", "expiresToken"])(
  "%s may be a token and is hidden",
  (name) => expect(isSecretName(name)).toBe(true),
)

test.each(["pinned", "spin", "mapping", "sessionId", "session_id", "public_key", "path"])(
  "the value under %s is shown",
  (name) => expect(isSecretName(name)).toBe(false),
)

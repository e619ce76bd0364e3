import { expect, test } from "vitest"
import { isSecretName } from "./secret-names.ts"

test.each(["password", "passwort", "pin", "card_pin", "cardPin", "sessionid", "JSESSIONID", "bearer", "bearerToken"])(
  "the value under %s is hidden",
  (name) => expect(isSecretName(name)).toBe(true),
)

test.each(["pinned", "spin", "mapping", "sessionId", "session_id", "public_key", "path"])(
  "the value under %s is shown",
  (name) => expect(isSecretName(name)).toBe(false),
)

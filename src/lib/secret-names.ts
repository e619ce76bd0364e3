/**
 * Reports whether an environment variable probably holds a secret. Rather too many than too few: hiding one costs
 * little.
 */
export function isSecretVariable(variable: string): boolean {
  return /pass|secret|token|key|credential|creds|auth|cookie|private|dsn|jwt|connection_?string|database_?url|_(pat|pwd|pw)$/i.test(
    variable,
  )
}

const anywhere =
  /pass[_-]?(word|wort|wd|phrase|code)|kennwort|bearer|secret(?!ar)|token(?!i[sz]|[_-]?type)|credential|authorization|cookie|private|jwt|connection[_-]?string|database[_-]?url|seed[_-]?phrase|mnemonic/i
const atTheEnd = /(^|[_-])(pass|pwd|pw|auth|pat|creds?|pin|otp|totp|cvv|cvc)$|dsn$|[a-z0-9][_-]?key$/i
const inCamelCase = /[a-z0-9](Pass|Pwd|Pw|Auth|Pat|Creds?|Pin|Otp|Cvv|Cvc)$/
/** The names of cookies. A `sessionId` is our own word and no secret. */
const sessionCookie = /(^|[_-])(sessionid|SESSIONID|JSESSIONID|PHPSESSID)$/
/** Names with `key` that are not secrets. */
const harmless =
  /(public|primary|foreign|sort|partition|cache|row|column|object|issue|project|group|lookup|shortcut|translation|idempotency|hot|mon|tur|don)[_-]?key$/i

/** Names for the end or the number of tokens, present or permitted: they tell nothing of a token. */
const aboutToken =
  /^(max|min|num|total|used|left|input|output|prompt|completion|cached|more)[_-]?tokens?$|tokens?[_-]?(expires?|expiry|expiration|ttl|lifetime|count|limit|budget|usage|used|left)([_-]?(at|in|on|date|days|hours|minutes|seconds|secs?|ms))?$/i

/** Reports whether the value under this name must not be logged. */
export function isSecretName(name: string): boolean {
  return (
    !aboutToken.test(name) &&
    (anywhere.test(name) || atTheEnd.test(name) || inCamelCase.test(name) || sessionCookie.test(name)) &&
    !harmless.test(name)
  )
}

/** Reports whether a number under that name counts tokens rather than being one. */
export function isTokenCount(name: string): boolean {
  return /tokens$|tokens?[_-]?(count|limit|budget|used|usage|left|per)|(max|min|num|total)[_-]?token/i.test(name)
}

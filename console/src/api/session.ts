/*
 * A browser sends the cookie of a session to every port of the host, so any program that serves a page on this machine
 * may learn it. The server therefore asks for a second secret, which is stored here, where only pages of our own port
 * can read it.
 */
const storageKey = "qm-session"

export const pageSecret = (): string => localStorage.getItem(storageKey) ?? ""
export const rememberSession = (secret: string): void => localStorage.setItem(storageKey, secret)
export const forgetSession = (): void => localStorage.removeItem(storageKey)

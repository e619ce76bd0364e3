/*
 * An answer must not be given by accident. This is the one place that decides whether a key or a click counts.
 * It knows nothing of React or the page, so that every rule has a unit test; use-guard.ts connects it to both.
 */

/** Keys and answering clicks do nothing for so long after a card appears or changes, or the window gets focus. */
export const sleepMs = 600

/** Time for which a destructive yes is held. Also in styles/tokens.css as --qm-hold. */
export const holdMs = 1200

/** The subject of an answer, captured when the key or button goes down. */
export interface Subject {
  readonly callId: string
  readonly revision: number
}

/**
 * The verdict on an answering click: `go`; the page `sleeps` because the card is new; it `woke` the window and does
 * nothing else; or the card `changed` between press and release.
 */
export type Verdict = "go" | "sleeps" | "woke" | "changed"

export interface Guard {
  /** Says which card is shown. The same card again changes nothing. */
  show(subject: Subject | undefined): void
  sleeping(): boolean
  /** Milliseconds until it wakes. */
  sleepsFor(): number
  windowBlurred(): void
  windowFocused(): void
  /** A pointer goes down anywhere. The first one after the window got focus only wakes it. */
  pointerDown(): void
  /** A pointer or key goes down on something that answers: what is shown now is what will be answered. */
  press(): Subject | undefined
  /** The press becomes a click. `byKeyboard` clicks do not come from a pointer that woke the window. */
  judge(pressed: Subject | undefined, byKeyboard: boolean): Verdict
}

export function createGuard(now: () => number, hasFocus: boolean): Guard {
  let shown: Subject | undefined
  let sleepsUntil = Number.NEGATIVE_INFINITY
  let awake = hasFocus
  let pressWoke = false

  const sleep = () => {
    sleepsUntil = now() + sleepMs
  }
  const same = (one: Subject | undefined, other: Subject | undefined) =>
    one?.callId === other?.callId && one?.revision === other?.revision

  return {
    show(subject) {
      if (same(subject, shown)) return
      shown = subject
      sleep()
    },
    sleeping: () => now() < sleepsUntil,
    sleepsFor: () => Math.max(0, sleepsUntil - now()),
    windowBlurred() {
      awake = false
    },
    windowFocused: sleep,
    pointerDown() {
      pressWoke = !awake
      awake = true
    },
    press: () => shown,
    judge(pressed, byKeyboard) {
      if (!byKeyboard && pressWoke) {
        pressWoke = false
        return "woke"
      }
      if (pressed === undefined || !same(pressed, shown)) return "changed"
      return now() < sleepsUntil ? "sleeps" : "go"
    },
  }
}

/** The parts of a keyboard event that matter here. */
export interface KeyPress {
  readonly key: string
  readonly repeat: boolean
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
  readonly isComposing: boolean
}

/** The state of the page when a key goes down. */
export interface PageState {
  /** Somebody types: the focus is in a field, or a text is being composed. */
  readonly typing: boolean
  /** A dialog, a menu or the command palette is open. */
  readonly covered: boolean
}

/** Reports whether a single key is meant as a command at all. Shift is for the caller: ⇧F and ? need it. */
export function isCommand(press: KeyPress, page: PageState): boolean {
  if (press.repeat || press.isComposing || press.ctrlKey || press.metaKey || press.altKey) return false
  return !page.typing && !page.covered
}

interface Span {
  readonly top: number
  readonly bottom: number
}

/** Reports whether enough of something is inside the visible part. Keys for hidden things only scroll to them. */
export function isInView(thing: Span, view: Span): boolean {
  const seen = Math.min(thing.bottom, view.bottom) - Math.max(thing.top, view.top)
  return seen >= Math.min(24, thing.bottom - thing.top)
}

/** One request over the network, as tools make it. */
export interface WebRequest {
  readonly url: string
  readonly method?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | Uint8Array | undefined
  /** The most bytes of the answer that are read; it is cut there and says so. */
  readonly maxBytes?: number | undefined
  readonly timeoutMs?: number | undefined
  /** *same-host* follows redirects to the same host only and returns others as they are; *all* follows ten at most. */
  readonly redirects?: "all" | "same-host" | "none" | undefined
  readonly signal?: AbortSignal | undefined
}

export interface WebAnswer {
  readonly status: number
  readonly statusText: string
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Buffer
  readonly truncated: boolean
  /** The address that answered. */
  readonly url: string
  /** Where it would have led, for a redirect that was not followed. */
  readonly redirect?: string | undefined
}

/**
 * The network behind its guard: each address, each redirect and each address a name leads to is checked when it is
 * connected to. What is refused is a `failure` with toolCode `host_denied`; other failures say what happened.
 */
export interface Web {
  send(request: WebRequest): Promise<WebAnswer>
}

/** The readable part of a page. */
export interface Page {
  readonly title: string
  readonly markdown: string
}

/** Which parts of a page are wanted: for each element that fits `each`, the first that fits a part, text or attribute. */
export interface PagePattern {
  readonly each: string
  /** A selector, or a selector and an attribute: `a.title` or `a.title@href`. */
  readonly parts: Readonly<Record<string, string>>
}

/**
 * Makes text of what was answered, away from the thread that answers calls. A page that is too much for it is a
 * `failure` with toolCode `page_too_complex`.
 */
export interface Pages {
  /** The text, and the charset it was really in; undefined for what is no text. */
  text(answer: Pick<WebAnswer, "bytes" | "headers">): Promise<{ text: string; charset: string } | undefined>
  /** As Markdown, links made whole by `url`. */
  markdown(html: string, url: string, signal?: AbortSignal): Promise<Page>
  find(html: string, pattern: PagePattern, signal?: AbortSignal): Promise<Record<string, string>[]>
}

/** An HTTP request of a tool. */
export interface WebRequest {
  readonly url: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** The most bytes of the response to read. A longer one is cut and marked as truncated. */
  readonly maxBytes?: number
  readonly timeoutMs?: number
  /** *all* follows ten redirects at most; *same-host* only those to the same host, and returns others as they are. */
  readonly redirects?: "all" | "same-host" | "none"
  readonly signal?: AbortSignal
}

export interface WebResponse {
  readonly status: number
  readonly statusText: string
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Buffer
  readonly truncated: boolean
  /** The address that responded. */
  readonly url: string
  /** The target of a redirect that was not followed. */
  readonly redirect?: string
}

/**
 * The only way tools use the network. Every address, including those of redirects and DNS answers, is checked when
 * connecting. A refusal is a `failure` with toolCode `host_denied`.
 */
export interface Web {
  send(request: WebRequest): Promise<WebResponse>
}

/** The readable part of a page. */
export interface Page {
  readonly title: string
  readonly markdown: string
}

/** The parts to extract from each element that matches `each`: the text or attribute of each part's first match. */
export interface PagePattern {
  readonly each: string
  /** A selector, or a selector and an attribute: `a.title` or `a.title@href`. */
  readonly parts: Readonly<Record<string, string>>
}

/** Converts responses to text, in a worker thread. A page that is too large is a `failure` with toolCode `page_too_complex`. */
export interface Pages {
  /** The decoded text and its detected charset. Undefined when the response is not text. */
  text(answer: Pick<WebResponse, "bytes" | "headers">): Promise<{ text: string; charset: string } | undefined>
  /** The page as Markdown. Relative links are resolved against `url`. */
  markdown(html: string, url: string, signal?: AbortSignal): Promise<Page>
  find(html: string, pattern: PagePattern, signal?: AbortSignal): Promise<Record<string, string>[]>
}

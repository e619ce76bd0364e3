export interface ToolCallStats {
  count: number
  failures: number
  avgDuration: number
  p50: number
  p95: number
  lastError?: string
}

interface Counter {
  count: number
  failures: number
  total: number
  /** Calls by duration. There are eight buckets per doubling, so a percentile is at most a tenth off. */
  buckets: Uint32Array
  /** The sum of durations per bucket: a percentile is the average of its bucket. */
  sums: Float64Array
  lastError: string | undefined
}

/** Up to 2^32 ms, which is seven weeks. */
const bucketCount = 8 * 32 + 1

/** Counts calls per tool in constant space. */
export class CallStatistics {
  readonly #counters = new Map<string, Counter>()

  count(tool: string, measuredMs: number, error: string | undefined): void {
    const durationMs = measuredMs > 0 ? measuredMs : 0
    let counter = this.#counters.get(tool)
    if (counter === undefined) {
      counter = newCounter()
      this.#counters.set(tool, counter)
    }
    const bucket = bucketOf(durationMs)
    counter.count++
    counter.total += durationMs
    counter.buckets[bucket]!++
    counter.sums[bucket]! += durationMs
    if (error === undefined) return
    counter.failures++
    counter.lastError = error
  }

  read(): Record<string, ToolCallStats> {
    return Object.fromEntries([...this.#counters].map(([tool, counter]) => [tool, statsOf(counter)]))
  }
}

function newCounter(): Counter {
  const [buckets, sums] = [new Uint32Array(bucketCount), new Float64Array(bucketCount)]
  return { count: 0, failures: 0, total: 0, buckets, sums, lastError: undefined }
}

function statsOf(counter: Counter): ToolCallStats {
  const { count, failures, total, lastError } = counter
  return {
    count,
    failures,
    avgDuration: total / count,
    p50: percentile(counter, 0.5),
    p95: percentile(counter, 0.95),
    ...(lastError === undefined ? {} : { lastError }),
  }
}

function bucketOf(milliseconds: number): number {
  if (milliseconds < 1) return 0
  return Math.min(bucketCount - 1, 1 + Math.floor(Math.log2(milliseconds) * 8))
}

function percentile({ count, buckets, sums }: Counter, share: number): number {
  let seen = 0
  for (const [bucket, calls] of buckets.entries()) {
    seen += calls
    if (seen >= count * share && calls > 0) return sums[bucket]! / calls
  }
  return 0
}

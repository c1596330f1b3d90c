// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Feed, type FeedOptions } from './feed.ts'
import type { Topic } from './topic.ts'
import type { TopicAudience, TopicRun } from './topic-run.ts'

/** How often it is looked whether another upstream is fitter. */
const checkMs = 5_000

/**
 * A topic that nobody can make up for what was missed of: events come as the upstream tells them,
 * and go on at another one when it fails.
 */
export class LiveRun implements TopicRun {
  readonly #options: Omit<FeedOptions, 'request' | 'polling'>
  readonly #feed: Feed
  #cancelCheck = () => {}
  #isClosed = false

  constructor(
    topic: Topic,
    options: Omit<FeedOptions, 'request' | 'polling'>,
    audience: TopicAudience,
  ) {
    this.#options = options
    this.#feed = new Feed(
      { ...options, request: topic, polling: null },
      {
        event: (event) => {
          audience.event(topic.shared?.(event) ?? event)
          if (topic.isLast?.(event) !== true) return
          this.close(true)
          audience.over()
        },
        moved() {},
      },
    )
  }

  async open(): Promise<void> {
    await this.#feed.open()
    if (!this.#isClosed) this.#check()
  }

  close(isOver = false): void {
    this.#isClosed = true
    this.#cancelCheck()
    this.#feed.close(isOver)
  }

  #check(): void {
    this.#cancelCheck = this.#options.clock.after(checkMs, () => {
      this.#feed.check()
      this.#check()
    })
  }
}

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

/** A tab of a headless Chromium, driven by the DevTools protocol. `await using` ends it. */
export class Browser implements AsyncDisposable {
  /** Exceptions and policy violations of pages. */
  readonly complaints: string[] = []
  /** URLs that pages requested. */
  readonly requested: string[] = []
  readonly #process: ChildProcess
  readonly #directory: string
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, (message: Message) => void>()
  #lastId = 0

  private constructor(process: ChildProcess, directory: string, socket: WebSocket) {
    this.#process = process
    this.#directory = directory
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => this.#take(JSON.parse(String(data))))
  }

  /** @throws Error without a Chromium */
  static async start(): Promise<Browser> {
    const directory = await mkdtemp(join(tmpdir(), 'rpc-router-browser-'))
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars']
    const own = ['--remote-debugging-port=0', `--user-data-dir=${directory}`]
    const child = spawn('chromium', [...flags, ...own, '--window-size=1360,860', 'about:blank'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const missing = once(child, 'error').then(() => {
      throw new Error('this test needs Chromium: apt-get install chromium')
    })
    const port = await Promise.race([missing, portOf(child)])
    const tabs = await fetch(`http://127.0.0.1:${port}/json/list`)
    const [tab] = (await tabs.json()) as { webSocketDebuggerUrl: string }[]
    const socket = new WebSocket(tab?.webSocketDebuggerUrl ?? '')
    await once(socket, 'open')
    const browser = new Browser(child, directory, socket)
    for (const domain of ['Page', 'Runtime', 'Log', 'Network'])
      await browser.#send(`${domain}.enable`)
    return browser
  }

  async open(url: string): Promise<void> {
    await this.#send('Page.navigate', { url })
  }

  async evaluate<T>(expression: string): Promise<T> {
    const options = { expression, awaitPromise: true, returnByValue: true, userGesture: true }
    const { result } = (await this.#send('Runtime.evaluate', options)) as { result: { value: T } }
    return result.value
  }

  /** The visible text. */
  text(selector = 'body'): Promise<string> {
    return this.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ''`)
  }

  /** The size of the window in CSS pixels. */
  async size(width: number, height: number, scale = 1): Promise<void> {
    const metrics = { width, height, deviceScaleFactor: scale, mobile: width < 600 }
    await this.#send('Emulation.setDeviceMetricsOverride', metrics)
  }

  /** A PNG of what the window shows. */
  async screenshot(): Promise<Buffer> {
    const shot = (await this.#send('Page.captureScreenshot')) as { readonly data: string }
    return Buffer.from(shot.data, 'base64')
  }

  async scheme(name: 'light' | 'dark'): Promise<void> {
    const features = [{ name: 'prefers-color-scheme', value: name }]
    await this.#send('Emulation.setEmulatedMedia', { features })
  }

  /** Null restores the size of the window. */
  async width(pixels: number | null): Promise<void> {
    const size = { width: pixels ?? 0, height: 0, deviceScaleFactor: 1, mobile: pixels !== null }
    await this.#send('Emulation.setDeviceMetricsOverride', size)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close()
    const ended = once(this.#process, 'exit')
    this.#process.kill()
    await ended
    await rm(this.#directory, { recursive: true, force: true, maxRetries: 5 })
  }

  async #send(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#lastId
    const { promise, resolve } = Promise.withResolvers<Message>()
    this.#waiting.set(id, resolve)
    this.#socket.send(JSON.stringify({ id, method, params }))
    const { result, error } = await promise
    if (error) throw new Error(`${method}: ${error.message}`)
    return result
  }

  #take(message: Message): void {
    const { id, method } = message
    if (id !== undefined) this.#waiting.get(id)?.(message)
    if (method === 'Runtime.exceptionThrown' || method === 'Log.entryAdded')
      this.complaints.push(JSON.stringify(message.params))
    if (method === 'Network.requestWillBeSent') this.requested.push(requestOf(message).url)
  }
}

function requestOf({ params }: Message): { readonly url: string } {
  return (params as { readonly request: { readonly url: string } }).request
}

async function portOf(child: ChildProcess): Promise<string> {
  let said = ''
  for await (const piece of child.stderr ?? []) {
    said += String(piece)
    const [, port] = /DevTools listening on ws:\/\/[^:]+:(\d+)/.exec(said) ?? []
    if (port !== undefined) {
      child.stderr?.resume()
      return port
    }
  }
  throw new Error(`Chromium ended: ${said}`)
}

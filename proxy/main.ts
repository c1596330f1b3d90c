#!/usr/bin/env node
const x: string = process.version
console.log(x, process.argv, process.memoryUsage.rss() / 1e6)

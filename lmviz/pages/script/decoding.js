// From logits to a distribution, by the rules of lmviz/decoding/distribution.py.

// Ids from the largest logit to the smallest, ties by id.
function descending(logits) {
  const order = Array.from(logits, (_, id) => id);
  return order.sort((one, other) => logits[other] - logits[one] || one - other);
}

// How many of the ranked weights are needed to reach the share topP; at least one.
function nucleus(weights, count, topP) {
  if (topP >= 1) return count;
  const running = new Float64Array(count);
  let sum = 0;
  for (let rank = 0; rank < count; rank++) running[rank] = sum += weights[rank];
  const wanted = topP * sum;
  let needed = 0;
  while (needed < count && running[needed] < wanted) needed++;
  return Math.min(needed + 1, count);
}

// options: temperature, top_k, top_p, min_p; `order` is that of `descending`.
function distributionOf(logits, order, options) {
  const count = order.length, weights = new Float64Array(count), best = logits[order[0]];
  if (options.temperature === 0) weights[0] = 1;
  else for (let rank = 0; rank < count; rank++) weights[rank] = Math.exp((logits[order[rank]] - best) / options.temperature);
  const afterTopK = options.top_k ? Math.min(options.top_k, count) : count;
  const afterTopP = nucleus(weights, afterTopK, options.top_p);
  let kept = 0;
  while (kept < afterTopP && weights[kept] >= options.min_p * weights[0]) kept++;
  let total = 0, all = 0;
  for (let rank = 0; rank < kept; rank++) total += weights[rank];
  for (let rank = 0; rank < count; rank++) all += weights[rank];
  const probabilities = new Float64Array(count), cutBy = [];
  let entropy = 0, choices = 0;
  for (let rank = 0; rank < kept; rank++) {
    const share = probabilities[order[rank]] = weights[rank] / total;
    if (share > 0) { entropy -= share * Math.log2(share); choices++; }
  }
  for (let rank = 0; rank < count; rank++)
    cutBy.push(rank < kept ? "" : rank >= afterTopK ? "top-k" : rank >= afterTopP ? "top-p" : "min-p");
  const before = Float64Array.from(weights, (weight) => weight / all);
  return { order, probabilities, before, cutBy, kept, choices, entropy: Math.max(0, entropy) };
}

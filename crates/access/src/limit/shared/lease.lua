-- Charges what a replica granted on its own, takes back tokens that it did not need, and leases it others.
-- KEYS[1]: what was leased, by the second of the lease. A lease counts until `span` seconds after its own are over.
-- ARGV: span, limit, charge, tokens given back, the second they were leased in, wanted, how many of these are needed.
-- Answers: granted, left, microseconds until what is needed and was not granted may be there, the second it is.
local time = redis.call('TIME')
local now, now_us = tonumber(time[1]), time[1] * 1000000 + time[2]
local span, limit, charge, returned, returned_to, wanted, needed =
  tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]),
  tonumber(ARGV[7])
local stored = redis.call('HGETALL', KEYS[1])
local seconds, counts, used = {}, {}, 0
for i = 1, #stored, 2 do
  local second, count = tonumber(stored[i]), tonumber(stored[i + 1])
  if second == returned_to then
    count = math.max(count - returned, 0)
    redis.call('HSET', KEYS[1], stored[i], count)
  end
  -- The past does not count, nor a future that cannot be: a clock that was set back locks nobody out.
  if count == 0 or second + span < now or second > now + span then
    redis.call('HDEL', KEYS[1], stored[i])
  else
    seconds[#seconds + 1] = second
    counts[second] = count
    used = used + count
  end
end
local left = math.max(limit - used - charge, 0)
local granted = math.min(wanted, left)
if charge + granted > 0 then
  if not counts[now] then
    seconds[#seconds + 1] = now
  end
  counts[now] = (counts[now] or 0) + charge + granted
  used = used + charge + granted
  redis.call('HSET', KEYS[1], string.format('%.0f', now), counts[now])
end
table.sort(seconds)
local wait, excess = 0, used + math.max(math.min(needed, limit) - granted, 1) - limit
if granted < wanted then
  for _, second in ipairs(seconds) do
    excess = excess - counts[second]
    if excess <= 0 then
      wait = (second + span + 1) * 1000000 - now_us
      break
    end
  end
end
if #seconds > 0 then
  redis.call('EXPIRE', KEYS[1], string.format('%.0f', seconds[#seconds] + span + 1 - now))
end
return { granted, left - granted, wait, now }

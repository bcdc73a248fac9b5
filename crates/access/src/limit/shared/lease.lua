-- Charges what a replica granted in advance (or takes back what it did not need, if negative) and leases it tokens.
-- KEYS[1]: the subject's number: when everything that was used is there again, in microseconds.
-- ARGV: microseconds per token, limit, charge, wanted. Answers: granted, left, microseconds until there is more.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval, limit, charge, wanted =
  tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local window = interval * limit
local arrival = tonumber(redis.call('GET', KEYS[1]) or now)
-- The past does not count, nor a future that cannot be: a clock that was set back locks nobody out.
if arrival < now or arrival > now + 2 * window then
  arrival = now
end
arrival = math.min(math.max(arrival + charge * interval, now), now + 2 * window)
local left = math.max(math.floor((now + window - arrival) / interval), 0)
local granted = math.min(wanted, left)
arrival = arrival + granted * interval
local wait = 0
if granted < wanted then
  wait = math.max(arrival + interval - window - now, 0)
end
if arrival > now then
  redis.call('SET', KEYS[1], string.format('%.0f', arrival), 'PX', math.ceil((arrival - now) / 1000))
else
  redis.call('DEL', KEYS[1])
end
return { granted, left - granted, wait }

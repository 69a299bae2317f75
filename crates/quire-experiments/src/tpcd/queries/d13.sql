-- TPC-D Q13: performance of a clerk, by year, in orders that were returned (ours after the subject of TPC-D's; the clerk is any)
select o_year, sum(volume) as revenue
from (
    select extract(year from o_orderdate) as o_year, l_extendedprice * (1 - l_discount) as volume
    from lineitem, orders
    where o_orderkey = l_orderkey and o_clerk = 'Clerk#000000088' and l_returnflag = 'R'
) as lost
group by o_year
order by o_year;
